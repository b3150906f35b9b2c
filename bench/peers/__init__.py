"""The smallest honest servers to compare with."""
