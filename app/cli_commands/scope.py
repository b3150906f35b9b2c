"""`kr scope explain` and `kr scope check`: whose paths are, and whether an agent may write them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from app.cli_commands import (
    CommandError,
    on_one_line,
    print_json,
    print_text,
    read_text,
    without_nul,
)
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
    paths = "paths from the root of the repository, ended by line ends or NUL; - is standard input"
    parser.add_argument("--files", required=True, metavar="FILE", help=paths)


def run(args: argparse.Namespace) -> int:
    """0 fine, 1 a path is out of scope or the rules have a flaw, 2 a file cannot be read."""
    if args.scopes == args.files == "-":
        raise CommandError("only one of --scopes and --files can be standard input", 2)
    scopes = parse(read_text(args.scopes))
    paths = _paths(args.files)
    for flaw in scopes.flaws:
        print(f"{args.scopes}: line {flaw.line}: {on_one_line(flaw.reason)}", file=sys.stderr)
    if args.action == "explain":
        return _explain(scopes, paths, args.json)
    return _check(scopes, args.agent, paths, args.json)


def _explain(scopes: Scopes, paths: Sequence[str], as_json: bool) -> int:
    """With a flaw in the rules every path is nobody's; people are told the flaws alone."""
    verdicts = [scopes.owners(path) for path in paths]
    if as_json:
        print_json([asdict(verdict) for verdict in verdicts])
    elif not scopes.flaws:
        print_text("\n".join(map(_shown, verdicts)) or "no paths")
    return 1 if scopes.flaws else 0


def _check(scopes: Scopes, agent: str, paths: Sequence[str], as_json: bool) -> int:
    if not agent.strip(" @"):
        raise CommandError("--agent needs a handle, for example @dede", 2)
    violations = check(scopes, agent, paths)
    ok = not violations and not scopes.flaws
    if as_json:
        print_json(_document(ok, violations, scopes))
    elif ok:
        print_text(f"{agent} may write all of it (paths: {len(paths)})")
    else:
        print_text("\n".join(f"{agent} may not write {_shown(one)}" for one in violations))
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


def _paths(name: str) -> list[str]:
    """The paths of a list in their order, ended by line ends or, as `git … -z` has it, by NUL."""
    text = read_text(name, may_have_nul=True).removeprefix(_BOM)
    return _ended_by_nul(name, text) if "\0" in text else _on_lines(text)


def _ended_by_nul(name: str, text: str) -> list[str]:
    """Line ends are part of a name here; a name of nothing else shows that NUL ends no paths."""
    *paths, last = text.split("\0")
    if last or not all(path.strip("\r\n") for path in paths):
        without_nul(name, text)
    return paths


def _on_lines(text: str) -> list[str]:
    """Empty lines are no paths. The last line may have no end."""
    *ended, last = text.split("\n")
    if all(line.endswith("\r") for line in ended if line):  # else it is part of a name
        ended, last = [line.removesuffix("\r") for line in ended], last.removesuffix("\r")
    return [line for line in (*ended, last) if line not in ("", "\r")]
