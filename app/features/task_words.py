"""What the words of a task say: which paths it names, and what it waits for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import re2

Named = tuple[str, str | None]
"""A task, or the first and the last of a range of tasks."""

_TO = r"\s*(?:-|–|—|\.{2,3}|to\b|through\b)\s*"
_ASIDE = r"(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]))*"
_NEXT = rf"{_ASIDE}\s*(?:[,&+/、，](?:\s*and\b)?|and\b|or\b)\s*(?:tasks?\s+)?"
_ONE = rf"\bT\d{{1,6}}[A-Za-z]?(?:{_TO}T\d{{1,6}}[A-Za-z]?|-\d{{3,6}})?\b"
_LIST = rf"({_ONE}(?:{_NEXT}{_ONE})*)"
_FILL = r"(?:[\s:(\[：]|\b(?:on|upon|by|tasks?|completion|of|all|both|the)\b)*"
_KEYS = r"(?:depend(?:s|ing|ent|encies|ency)?|deps|after|blocked\s+by|requires?|needs?|once)"
_HELPERS = (
    r"(?:\s*\b(?:must|should|can|will|be|is|are|all|run|in|parallel|start|begin|only|done"
    r"|finish|completed?|pass|directly|sequential|come|comes|go|goes)\b)*\s*"
)
_LEFT = rf"(?i)^\s*(?:(?:only|tasks?|both|all)\s+)*{_LIST}{_ASIDE}{_HELPERS}"
_SAID = re2.compile(rf"(?i)\b(?:{_KEYS}|prerequisites?)\b{_FILL}{_LIST}")
_LATER = re2.compile(rf"{_LEFT}\b(?:{_KEYS}|follows?)\b{_FILL}{_LIST}")
_EARLIER = re2.compile(rf"{_LEFT}\b(?:before|precedes?|(?:un)?blocks?)\b{_FILL}{_LIST}([+]?)")
_STEP = re2.compile(rf"(?i)^\s*{_LIST}{_ASIDE}\s*[.,]?\s*$")
_ASIDES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NAMED = re2.compile(rf"(?i)\b(T\d{{1,6}}[A-Za-z]?)(?:{_TO}(T\d{{1,6}}[A-Za-z]?)|-(\d{{3,6}}))?\b")
_ARROW = re.compile(r"→|⟶|->|=>")
_CLAUSE = re.compile(r";|\.\s")
_MARKUP = re.compile(r"[*_~`]+")
_NOT = ("not", "n't", "n’t", "no", "never", "without")


def waits_for(text: str) -> Iterator[Named]:
    """What a task's own text says it waits for: “depends on T003, T004”, “after T002”."""
    plain = _MARKUP.sub("", text)
    for found in _SAID.finditer(plain):
        before = plain[max(0, found.start() - 12) : found.start()].rstrip().lower()
        if not before.endswith(_NOT):
            yield from _named(found.group(1))


def orders(line: str) -> Iterator[tuple[list[Named], list[Named]]]:
    """(earlier, later) as a line of a section on dependencies says it, where it is plain.

    An arrow leads from the earlier to the later task; one to a lower id may mean either.
    """
    for clause in _CLAUSE.split(_MARKUP.sub("", line)):
        steps = [_STEP.search(step) for step in _ARROW.split(clause)]
        if len(steps) > 1 and all(steps):
            for one, other in pairwise([_named(step.group(1)) for step in steps]):
                if int(re.sub(r"\D", "", one[0][0])) < int(re.sub(r"\D", "", other[0][0])):
                    yield one, other
        elif found := _LATER.search(clause):
            yield _named(found.group(2)), _named(found.group(1))
        elif (found := _EARLIER.search(clause)) and not found.group(3):
            yield _named(found.group(1)), _named(found.group(2))


def _named(said: str) -> list[Named]:
    matches = (found.groups() for found in _NAMED.finditer(_ASIDES.sub(" ", said)))
    return [(first, last or (f"T{short}" if short else None)) for first, last, short in matches]


_SUFFIXES = frozenset(
    """py pyi ts tsx js jsx mjs cjs json jsonl yaml yml toml md mdx txt sh bash sql html css scss
    go rs java kt kts swift dart rb php c h cc cpp hpp cs proto tf tfvars hcl ini cfg conf lock xml
    csv svg png jpg jpeg gif ico webp graphql prisma vue svelte gradle ipynb arb tpl j2 mako po rst
    snap feature ps1 bat""".split()
)
_DEEPER = _SUFFIXES | set("env log properties example template pem key s m r d".split())
_ROOTS = frozenset(
    """src tests lib docs k8s argocd kustomize helm .github specs scripts packages apps backend
    frontend configs migrations charts manifests bin deploy""".split()
)
_FILES = frozenset(
    """Dockerfile Containerfile Makefile Justfile Procfile Jenkinsfile Vagrantfile Gemfile Podfile
    Rakefile CODEOWNERS AGENT_SCOPES LICENSE README CHANGELOG""".split()
)
_DOTTED = (".env", ".git", ".docker", ".editorconfig", ".eslint", ".prettier", ".npm", ".nvm")
_LIBRARIES = frozenset("node next vue react express nuxt three d3 chart ember backbone".split())
_MEDIA = frozenset("application text image audio video multipart font".split())
_DOMAINS = frozenset("com org net io dev ai".split())
_WORD = re.compile(r"[!-~À-ɏ]+")
_CUT = re.compile(r"::|:\d|#")
_LONGEST_PATH = 300


def named_paths(text: str) -> tuple[str, ...]:
    """The words that look like files or folders, in order, each once.

    In backticks a file needs no ending. No addresses, versions, or “and/or”.
    """
    found: dict[str, None] = {}
    for number, piece in enumerate(re.split("`+", text)):
        for word in _WORD.findall(piece.replace("](", "] (")):
            parts = [word] if "{" in word else re.split("[,;]", word)
            paths = (_bare(part) for part in parts if "://" not in part)
            found.update((path, None) for path in paths if _is_path(path, number % 2 == 1))
    return tuple(found)


def _bare(word: str) -> str:
    """Without quotation marks, emphasis, brackets around it, line number, and full stop."""
    for _ in range(4):
        word = word.strip("\"'<>|!?,;“”").rstrip(".:")
        if word.startswith("**") and not word.startswith("**/"):
            word = word.lstrip("*")
        if word.endswith("*") and not word.endswith(("/*", "/**")):
            word = word.rstrip("*")
        for opening, closing in ("()", "[]", "{}"):
            more = word.count(opening) - word.count(closing)
            if word.startswith(opening) and (more > 0 or word.endswith(closing)):
                word = word[1:]
            if word.endswith(closing) and word.count(opening) < word.count(closing):
                word = word[:-1]
    return _CUT.split(word, maxsplit=1)[0].removeprefix("./")


def _is_path(word: str, ticked: bool) -> bool:
    if not 1 < len(word) <= _LONGEST_PATH or "//" in word or word[0] in "@~-$/":
        return False
    if set(word) & set("\"'<>|=\\&?!;%^:") or not any(map(str.isalpha, word)):
        return False
    segments = word.removesuffix("/").split("/")
    if not all(map(_whole, segments)):
        return False
    last = segments[-1]
    stem, dot, suffix = last.rpartition(".")
    known = last in _FILES or last.startswith(_DOTTED)
    if "/" not in word:
        plain = bool(stem and dot) and stem[0] != "." and suffix in _SUFFIXES and "@" not in word
        library = suffix in {"js", "json"} and stem.lower() in _LIBRARIES | {"res", "response"}
        return (plain and not library) or last.startswith(_DOTTED) or (ticked and known)
    if segments[0].rpartition(".")[0] and segments[0].rpartition(".")[2] in _DOMAINS:
        return False
    ends = bool(stem and dot) and suffix in _DEEPER
    media = len(segments) == 2 and segments[0] in _MEDIA
    folder = word.endswith("/") and (ticked or len(segments) > 1) and len(segments[0]) > 1
    return ends or known or (folder and not media) or segments[0] in _ROOTS


def _whole(segment: str) -> bool:
    """Its brackets match, and it calls no function."""
    pairs = all(segment.count(pair[0]) == segment.count(pair[1]) for pair in ("()", "[]", "{}"))
    return bool(segment) and pairs and ("(" not in segment or segment[0] == "(")
