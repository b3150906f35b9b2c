"""`kr scope explain` and `kr scope check`: whose paths are, and whether an agent may write them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.cli_commands import CommandError, print_json
from app.scopes import Scopes, Verdict, check, is_guarded, parse

_BOM = "\ufeff"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `explain` and `check`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    summary = "say whose each path is, and by which line"
    _add_files(actions.add_parser("explain", help=summary, description=summary))
    summary = "say which paths an agent may not write"
    checking = actions.add_parser("check", help=summary, description=summary)
    _add_files(checking)
    checking.add_argument("--agent", required=True, metavar="HANDLE", help="for example @dede")


def _add_files(parser: argparse.ArgumentParser) -> None:
    scopes = "the rules, in CODEOWNERS syntax; - is standard input"
    parser.add_argument("--scopes", required=True, metavar="FILE", help=scopes)
    paths = "a path from the root of the repository on each line; - is standard input"
    parser.add_argument("--files", required=True, metavar="FILE", help=paths)


def run(args: argparse.Namespace) -> int:
    """0 fine, 1 a path is out of scope or the rules have a flaw, 2 a file cannot be read."""
    if args.scopes == args.files == "-":
        raise CommandError("only one of --scopes and --files can be standard input", 2)
    scopes = parse(_read(args.scopes))
    paths = _paths(_read(args.files))
    for flaw in scopes.flaws:
        print(f"{args.scopes}: line {flaw.line}: {flaw.reason}", file=sys.stderr)
    if args.action == "explain":
        return _explain(scopes, paths, args.json)
    return _check(scopes, args.agent, paths, args.json)


def _explain(scopes: Scopes, paths: Sequence[str], as_json: bool) -> int:
    if scopes.flaws:
        return 1
    verdicts = [scopes.owners(path) for path in paths]
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    else:
        print("\n".join(map(_shown, verdicts)) or "no paths")
    return 0


def _check(scopes: Scopes, agent: str, paths: Sequence[str], as_json: bool) -> int:
    if not agent.strip(" @"):
        raise CommandError("--agent needs a handle, for example @dede", 2)
    violations = check(scopes, agent, paths)
    ok = not violations and not scopes.flaws
    if as_json:
        print_json(_document(ok, violations, scopes))
    elif ok:
        print(f"{agent} may write all of it (paths: {len(paths)})")
    else:
        print("\n".join(f"{agent} may not write {_shown(one)}" for one in violations))
    return 0 if ok else 1


def _document(ok: bool, violations: Sequence[Verdict], scopes: Scopes) -> dict[str, Any]:
    document: dict[str, Any] = {"ok": ok, "violations": [asdict(one) for one in violations]}
    if scopes.flaws:
        document["errors"] = [asdict(flaw) for flaw in scopes.flaws]
    return document


def _shown(verdict: Verdict) -> str:
    """The path on one line, whatever is in it, and whose it is."""
    path = verdict.path if verdict.path.isprintable() else ascii(verdict.path)
    owners = " ".join(verdict.owners) or "nobody"
    because = f"line {verdict.line}" if verdict.line else "no line matches"
    guarded = "; guarded, no agent may write it" if is_guarded(verdict.path) else ""
    return f"{path}: {owners} ({because}{guarded})"


def _paths(text: str) -> list[str]:
    """One on each line, in their order. Empty lines are no paths."""
    lines = [line for line in text.removeprefix(_BOM).split("\n") if line not in ("", "\r")]
    if all(line.endswith("\r") for line in lines):  # else it is part of a name
        return [line.removesuffix("\r") for line in lines]
    return lines


def _read(name: str) -> str:
    """The text of a file, or of standard input for `-`, with its line ends as they are."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode()
    except OSError as error:
        raise CommandError(f"cannot read {name}: {error.strerror}", 2) from None
    except UnicodeDecodeError:
        raise CommandError(f"{name} is not UTF-8 text; save it as UTF-8", 2) from None
