"""Channels of people, through apprise: `slack://…`, `mailto://…` and a hundred more."""

from __future__ import annotations

import asyncio
import logging

# They log addresses, and these hold secrets: in apprise's own words, or in a request's path.
for _name in ("apprise", "urllib3", "requests_oauthlib", "oauthlib"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


async def send(url: str, title: str, body: str, *, seconds: float = 15) -> str | None:
    """Tell a channel. None when it went, else the reason, without any word of the address.

    Past `seconds` nobody waits any more, but what was begun may still go out. Never raises.
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(_send, url, title, body)
    except TimeoutError:
        return f"no answer within {seconds:g} seconds"


def _send(url: str, title: str, body: str) -> str | None:
    """Blocks. Declared as text, so that apprise escapes what a service would read as markup."""
    import apprise

    try:
        channel = apprise.Apprise()
        if not channel.add(url):
            return "the channel's URL is no address that apprise understands"
        sent = channel.notify(body=body, title=title, body_format=apprise.NotifyFormat.TEXT)
    except Exception as error:  # a plugin may raise anything, and its text may hold the address
        return f"apprise failed: {type(error).__name__}"
    return None if sent else "the channel did not take it: try its URL with `apprise` by hand"
