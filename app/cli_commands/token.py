"""`kr token create`: a token for the API, for a person or a program."""

from __future__ import annotations

import argparse
import sys

from app.cli_commands import CommandError, load_settings, print_json

_WRONG_USE = 2
_ROLES = ("user", "admin")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `create`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a token", description="Make a token.")
    create.add_argument(
        "--role", choices=_ROLES, required=True, help="an admin also sets rules, answers for agents"
    )
    create.add_argument("--name", required=True, help="who it is for; stands in the log")
    create.add_argument("--days", type=int, default=30, help="how long it is good for (30)")


def run(args: argparse.Namespace) -> int:
    """Print the token, which is shown this once. Raises `CommandError` (exit 2)."""
    from app.web import tokens

    secret = load_settings().api_secret
    if secret is None or not secret.get_secret_value():
        raise CommandError(
            f"KR_API_SECRET is not set. Make one: {tokens.NEW_KEY}"
            " — and start the service with the same one.",
            _WRONG_USE,
        )
    key = secret.get_secret_value()
    try:
        token = tokens.create(key, args.name, args.role, args.days)
    except tokens.CannotCreate as error:
        raise CommandError(str(error), _WRONG_USE) from None
    until = tokens.expires(key, token).isoformat()
    if args.json:
        print_json({"token": token, "name": args.name, "role": args.role, "expires": until})
    else:
        print(token, flush=True)
        print(f"for {args.name} ({args.role}), until {until}", file=sys.stderr)
    return 0
