"""GitHub: signed webhooks in, a repository client out. The only user of githubkit."""
