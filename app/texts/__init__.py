"""Every sentence the bot posts, and how foreign text is made harmless. Pure."""
