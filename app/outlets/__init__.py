"""How others are told what happened: a Redis stream, webhooks, notifications. Best effort."""
