"""What the path of a file tells about it: code, test, neither; and how a path is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.texts.safe import one_line
from app.texts.secrets import without_secrets

_CODE = frozenset(
    """py ts tsx js jsx mjs cjs go rs java kt kts swift rb php c cc cpp cxx h hpp cs scala ex exs
    dart vue svelte m mm""".split()
)
_TEST_FOLDERS = frozenset("test tests __tests__ spec e2e cypress testdata".split())
_TEST_NAME = re.compile(
    r"test_.*\.py|conftest\.py|.*_(?:test|tests|spec)\.[a-z]+|.*\.(?:test|spec|cy)\.[a-z]+"
    r"|.*(?:Test|Tests|Spec|IT)\.(?:java|kt|cs|scala|swift|php|groovy)"
)
_ASIDE = frozenset(
    """doc docs specs k8s argocd kustomize helm charts .github examples migrations vendor
    node_modules third_party dist build generated gen stories bench""".split()
)
_MADE = re.compile(
    r"\..*|__init__\.py|setup\.py|manage\.py|.*\.config\.[cm]?[jt]s|.*\.d\.[cm]?ts|.*\.min\.js"
    r"|.*_pb2(?:_grpc)?\.py|.*\.pb\.go|.*\.g\.dart|.*\.generated\..*|.*\.stories\.[a-z]+"
)
"""Settings of tools, and what tools write: nobody tests these."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TELLS_NOTHING = frozenset(
    """src app apps lib libs test spec main index package pkg cmd internal core init unit
    integration end e java kotlin com org io net it cy backend frontend server client util helper
    common shared feature""".split()
)
SHOWN = 5
"""Names in a list; the others are counted."""


def suffix(path: str) -> str:
    """In small letters, without the dot; empty for none."""
    stem, dot, end = path.rpartition("/")[2].rpartition(".")
    return end.lower() if stem and dot else ""


def is_test(path: str) -> bool:
    """Whether it is a test or belongs to the tests, by the habits of many languages."""
    *folders, name = path.split("/")
    if folders[:1] == ["specs"]:
        return False
    return not _TEST_FOLDERS.isdisjoint(map(str.lower, folders)) or bool(_TEST_NAME.fullmatch(name))


def is_code(path: str) -> bool:
    """Whether one would expect tests of it: a program, and neither a test nor made by a tool."""
    *folders, name = path.split("/")
    aside = not _ASIDE.isdisjoint(map(str.lower, folders))
    return suffix(path) in _CODE and not (aside or is_test(path) or _MADE.fullmatch(name))


def words(path: str) -> frozenset[str]:
    """The telling words of folders and name: `src/orders/exportCsv.ts` → order, export, csv."""
    *folders, name = path.split("/")
    found = _WORD.findall(" ".join([*folders, name.partition(".")[0]]))
    plain = (word.lower() for word in found)
    single = (word[:-1] if len(word) > 3 and word.endswith("s") else word for word in plain)
    return frozenset(word for word in single if len(word) > 1) - _TELLS_NOTHING


def code(path: str) -> str:
    """The path as a code span that it cannot leave, also in a table, and without secrets."""
    plain = one_line(without_secrets(path)[0], 200).replace("|", "│")
    return f"`{plain.replace('`', chr(39)) or '?'}`"


def listed(names: Sequence[str], most: int = SHOWN) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
