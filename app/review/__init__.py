"""Reviews of pull requests: what a diff shows, found by rules, chosen and placed. Pure."""
