"""Knowledge Router: asks the right one, once, before anybody writes code."""

__version__ = "0.1.0"
