"""The web process: webhooks, health, the API and pages. It never waits for GitHub or a model."""
