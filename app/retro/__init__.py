"""From a feature's log to what can be learned of it. Pure."""
