"""Measurements. They print figures and write nothing; `make bench` runs them."""
