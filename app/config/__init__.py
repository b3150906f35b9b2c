"""The configuration: what may stand in it, and who may say what."""
