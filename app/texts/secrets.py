"""Secrets in text, found before anything is stored or posted, and taken out of it.

Three ways lead to a secret: the format of a vendor, a telling place (a header, an address, the
value of `password = …`), and the values that the service itself knows. RE2 searches in linear
time. It is a net and no wall: what is reversed, encrypted or told in words slips through.
"""

from __future__ import annotations

import base64
import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from app.texts.safe import visible

KNOWN = "secret of this service"
SHORTEST_KNOWN = 8
"""Characters; a shorter known value would be found in innocent words."""
SHORTEST = 16
"""Characters that the value of an assignment must have, not counting what fills it up."""
LEAST_ENTROPY = 3.0
"""Bits for each character; sixteen different characters have 4."""
_LOOK = 256
"""Characters of a value that are judged; what follows them shares their fate."""


@dataclass(frozen=True, slots=True)
class Secret:
    """From `start` up to, not including, `end`; the kind in words: `GitHub token`."""

    kind: str
    start: int
    end: int


def find_secrets(text: str, known: Collection[str] = ()) -> tuple[Secret, ...]:
    """The secrets of a text in order; none overlaps another.

    `known` holds values that are secret whatever they look like; those shorter than
    `SHORTEST_KNOWN` are left out. They are also found in base64, hex or URL encoding, and with
    blanks, line breaks or hidden characters between their characters.
    """
    copy = _copy(text)
    flat = copy.text.translate(_PLAIN).encode("ascii", "replace")
    finds = [copy.secret(*find) for find in (*_formatted(flat), *_assigned(flat))]
    return _merged([*finds, *_known(text, known)])


def without_secrets(text: str, known: Collection[str] = ()) -> tuple[str, tuple[str, ...]]:
    """The text with `[removed: kind]` for every secret, and the kinds, each once, in order."""
    secrets = find_secrets(text, known)
    parts: list[str] = []
    at = 0
    for secret in secrets:
        parts += [text[at : secret.start], f"[removed: {secret.kind}]"]
        at = secret.end
    return "".join([*parts, text[at:]]), tuple(dict.fromkeys(secret.kind for secret in secrets))


def entropy(text: str) -> float:
    """Shannon's entropy of the characters, in bits for each; 0 for an empty text."""
    counts = Counter(text).values()
    return sum(count * math.log2(len(text) / count) for count in counts) / len(text) if text else 0


@dataclass(frozen=True, slots=True)
class _Copy:
    """A text without some characters, that knows where the others stood."""

    text: str
    places: Sequence[int]

    def secret(self, kind: str, start: int, end: int) -> Secret:
        return Secret(kind, self.places[start], self.places[end - 1] + 1)


_PLAIN = str.maketrans("\u00a0\u2009\u202f\u3000“”„‘’\u2011\u2013\u2212", '    """\'\'---')
"""What typesetting makes of plain characters; one for one, so that places stay."""


def _copy(text: str, blanks: bool = True) -> _Copy:
    """Without what nobody sees, and without blanks and line breaks unless they are wanted."""
    seen = set(text)
    shown = seen - {"\r", "\u2028", "\u2029"}
    dropped = shown - set(visible("".join(shown)))
    if not blanks:
        dropped |= {character for character in seen if character.isspace()}
    if not dropped:
        return _Copy(text, range(len(text)))
    places = array("L", (at for at, character in enumerate(text) if character not in dropped))
    return _Copy(text.translate(dict.fromkeys(map(ord, dropped))), places)


_FILLER = re.compile(r"(?i)example|placeholder|change[-_]?me|your|dummy|redacted|(.)\1{3,}")
_PIECE = (
    r"(?:[a-z]{2,}(?:[0-9]{1,4}[a-z]{3,})?[0-9]{0,4})?"
    r"(?:[A-Z]{1,2}[a-z]{2,}[0-9]{0,4}|[A-Z]{2,}(?:[0-9]{1,4}[A-Z][a-z]{2,})?)*[0-9]{0,4}"
    r"|[A-Za-z]{1,6}[0-9]{0,4}|[0-9]{1,10}"
)
_WORDS = re2.compile(rf"@?(?:{_PIECE})(?:[-_./:=$~#]+(?:{_PIECE}))*")
"""Names as in prose and code: `db.token_v2`, `refreshTokenStore`, `HS256/RS256-signed`."""
_SPELT = re2.compile(r"(?:[A-Z]?[a-z]*|[A-Z]+|[0-9]{1,4})(?:[-_.]+(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+))*")
_REFERENCE = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,20}://|data:|[$%]?[({<\[]|\$[A-Z_][A-Z0-9_]*$|(?:.*@)?sha[0-9]+[-:]"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T"
)
_STAND_IN = re.compile(r"[$%]?[({\[].*|\$[A-Z_][A-Z0-9_]*|%s|[*]+|[xX]+|[.?]+|[0-9]{1,5}[?#].*")
_CLASSES = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", r"[^A-Za-z0-9\-_./:@+=~?]")))


def _classes(value: str) -> int:
    return sum(bool(some.search(value)) for some in _CLASSES)


def _varied(value: str) -> bool:
    """Not `ghp_xxxx…`."""
    rest = _FILLER.sub("", value[:_LOOK])
    return len(rest) >= SHORTEST and len(set(rest)) >= 8


def _made(value: str) -> bool:
    """Nor `sk-proj-your-key-here`."""
    return _varied(value) and not _SPELT.fullmatch(value[:_LOOK])


def _aws_key(value: str) -> bool:
    """A commit has forty characters, too."""
    return _varied(value) and _credential(value) and not re.fullmatch("[0-9a-fA-F]+", value)


def _credential(value: str) -> bool:
    """In a header: `Bearer authentication` is none."""
    head = value[:_LOOK]
    return _classes(head) >= 2 and len(set(head)) >= 5 and not _WORDS.fullmatch(head)


def _assignable(value: str, classes: int) -> bool:
    if len(value) < SHORTEST or _classes(value) < classes or _REFERENCE.match(value):
        return False
    rest = _FILLER.sub("", value)
    made = len(rest) >= SHORTEST and entropy(rest) >= LEAST_ENTROPY
    return made and not _WORDS.fullmatch(value)


# Formats. No pattern has an optional tail without bound: each would be tried at every find.

_AT = r"(?:\b|_|\\[nrt]|%[0-9A-Fa-f]{2})"
"""Where a token may begin, also behind a line break in JSON or an escape in an address."""
_64 = "[A-Za-z0-9_-]"
_HEADER = (
    r"(?i)\bauthorization[\"'`\\\]]{0,4}\s{0,8}[:=,]\s{0,8}[\\\"'`]{0,2}"
    r"(?:bearer|basic|token)\s{1,4}([A-Za-z0-9._~+/=:-]{8,})"
)
_URL = r"(?i)\b[a-z][a-z0-9+.-]{0,30}://[^\s/?#@:\"'<>]{0,128}:([^\s/\"'<>]{1,256})@[^\s@]"
_AWS = (
    r"(?is)(?:aws.{0,16}secret|secret.?access.?key|(?-i:AKIA|ASIA)[A-Z0-9]{16}).{0,60}?"
    r"[^A-Za-z0-9/+]([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)"
)
_PEM = (
    r"(?s)(-{5}BEGIN [A-Z0-9 ]{0,40}PRIVATE"
    r" KEY(?: BLOCK)?-{5}"
    r"(?:.*?-{5}END [A-Z0-9 ]{0,40}PRIVATE"
    r" KEY(?: BLOCK)?-{5}|.*[A-Za-z0-9+/=]{16}.*))"
)
"""In pieces, lest a key be found here. One without an end goes on to the end of the text."""
_FORMATS: tuple[tuple[str, str, Callable[[str], bool]], ...] = (
    ("private key", _PEM, _varied),
    ("SSH private key", r"(b3BlbnNzaC1rZXktdjE[\w+/=]{20,}(?:\s{1,4}[\w+/=]{40,})*)", _made),
    ("age private key", r"(?i)(AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,})", _varied),
    # An installation's token may be a JWT behind its prefix: some 520 characters and two dots.
    ("GitHub token", rf"((?:gh[pousr]|github_pat)_{_64}{{20,}}(?:\.{_64}{{20,}}){{0,2}})", _made),
    ("Anthropic key", rf"(sk-ant-{_64}{{20,}})", _made),
    ("OpenAI key", rf"{_AT}(sk-(?:(?:proj|svcacct|admin)-{_64}{{20,}}|\w{{20,}}))", _made),
    ("Google API key", rf"{_AT}(AIza{_64}{{35}})", _made),
    ("AWS access key id", r"((?:AKIA|ASIA)[A-Z0-9]{16})", _varied),
    ("Slack token", r"((?:xox[a-z]|xapp)[.-][A-Za-z0-9.-]{16,})", _made),
    ("Slack webhook", r"((?:https?://)?hooks\.slack(?:-gov)?\.com/[a-z]+/[\w/+-]{20,})", _made),
    ("Stripe key", rf"{_AT}([sr]k_(?:live|test)_\w{{16,}}|whsec_[\w+/=]{{24,}})", _made),
    (
        "GitLab token",
        rf"(gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt)-{_64}{{20,}}(?:\.\w{{2,10}}){{0,2}})",
        _made,
    ),
    ("npm token", rf"{_AT}(npm_[A-Za-z0-9]{{30,}})", _made),
    ("PyPI token", rf"{_AT}(pypi-{_64}{{50,}})", _made),
    ("Hugging Face token", rf"{_AT}((?:hf|api_org)_[A-Za-z0-9]{{30,}})", _varied),
    ("SendGrid key", rf"{_AT}(SG\.{_64}{{16,64}}\.{_64}{{16,64}})", _made),
    ("Twilio key", rf"{_AT}((?:AC|SK)[0-9a-f]{{32}})\b", _varied),
    ("Twilio key", r"(?i)twilio.{0,60}?\b([0-9a-f]{32})\b", _varied),
    ("AWS secret key", _AWS, _aws_key),
    ("JSON Web Token", rf"(eyJ{_64}{{8,}}\.eyJ{_64}{{8,}}\.{_64}*)", _varied),
    ("authorization header", _HEADER, _credential),
    ("password in a URL", _URL, lambda value: not _STAND_IN.fullmatch(value)),
)
_RULES = [(kind, re2.compile(pattern), check) for kind, pattern, check in _FORMATS]


def _formatted(flat: bytes) -> Iterator[tuple[str, int, int]]:
    for kind, pattern, check in _RULES:
        for found in pattern.finditer(flat):
            if check(found.group(1).decode()):
                yield kind, *found.span(1)


_NAME = (
    r"(?:pass(?:word|wd|phrase)|(?:\b|_)pass|pwd|secret|token|credential"
    r"|(?:api|access|auth|private|signing|encryption|master|session|account)[ _.-]?key)"
    r"(?P<of>[ _-]?key|[_-][a-z0-9_-]{0,24}|(?-i:[A-Z])[a-z0-9]{0,20}|s|[0-9]{1,3})?"
)
_SIGN = (
    r"[\"'`\\\]*]{0,4}(?:\s{0,8}(?::\s{0,3}[a-z][a-z0-9_.\[\]|]{0,24}\s{1,3}=|=>|[:=]{1,3}|>)"
    r"[\s*\\]{0,8}|(?P<said>\s{1,3}(?:(?:is|was):?\s{1,3})?))"
)
_ASSIGNMENT = re2.compile(f"(?i){_NAME}{_SIGN}(?P<quote>[\"'`]?)")
_ABOUT = re.compile(
    r"(?i)(?:name|file|path|ur[li]|type|id|count|arn|endpoint|limit|ttl|policy|version|at)s?$"
)
"""`token_url` and `secretName` hold no secret."""
_VALUES = {
    "": re2.compile(r"[^\s\"'`,;<>()\[\]{}|&\\]+"),
    **{quote: re2.compile(rf"[^\s{quote}]+") for quote in "\"'`"},
}


def _assigned(flat: bytes) -> Iterator[tuple[str, int, int]]:
    done = 0
    for name in _ASSIGNMENT.finditer(flat):
        at = name.end()
        if at >= done and not _ABOUT.search((name.group("of") or b"").decode()):
            # In a sentence (`the token is …`) it must look more like one than behind a sign.
            classes = 3 if name.group("said") else 2
            done = _value_end(flat, at, name.group("quote").decode(), classes)
            if done:
                yield "secret", at, done


def _value_end(flat: bytes, at: int, quote: str, classes: int) -> int:
    """Where the secret value that begins here ends; 0 if it is none."""
    found = _VALUES[quote].match(flat, at, at + _LOOK)
    called = found and not quote and flat[found.end() : found.end() + 1] in (b"(", b"[")
    if not found or called or not _assignable(found.group().decode().rstrip("\\"), classes):
        return 0
    whole: bytes = _VALUES[quote].match(flat, at).group()
    return at + len(whole.rstrip(b"\\"))


def _known(text: str, known: Collection[str]) -> Iterator[Secret]:
    values = [value for value in known if len("".join(value.split())) >= SHORTEST_KNOWN]
    copy = _copy(text, blanks=False) if values else _Copy("", ())
    for pattern in (pattern for value in values for pattern in _shapes(value)):
        for found in pattern.finditer(copy.text):
            yield copy.secret(KNOWN, *found.span())


@lru_cache(maxsize=64)
def _shapes(value: str) -> tuple[Any, ...]:
    """Patterns for a known value in a text without blanks: plain or URL, hex, base64."""
    raw = value.encode("utf-8", "replace")
    spelled = "".join(map(_spelled, value.encode("utf-8", "replace").decode()))
    cores = "|".join(_base64_core(raw, before) for before in range(3))
    return (
        re2.compile(spelled),
        re2.compile(f"(?i){raw.hex()}"),
        re2.compile(f"[A-Za-z0-9+/_-]?(?:{cores})[A-Za-z0-9+/_-]?={{0,2}}"),
    )


def _spelled(character: str) -> str:
    encoded = "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "replace"))
    if character.isspace():
        return f"(?:(?i:{encoded})|[+])?"
    return f"(?:{re2.escape(character)}|(?i:{encoded}))"


def _base64_core(raw: bytes, before: int) -> str:
    """The characters that depend on the value alone, with so many bytes before it."""
    first, last = (0, 2, 3)[before], (before + len(raw)) * 8 // 6
    core = base64.b64encode(b"\0" * before + raw).decode()[first:last]
    return core.replace("+", "[+-]").replace("/", "[/_]")


_KINDS = [*(kind for kind, *_ in _FORMATS), KNOWN, "secret"]
"""A secret found in several ways is called by the kind that stands first here."""


def _merged(finds: Iterable[Secret]) -> tuple[Secret, ...]:
    merged: list[Secret] = []
    for find in sorted(finds, key=lambda find: find.start):
        last = merged.pop() if merged and find.start < merged[-1].end else find
        kind = min(last.kind, find.kind, key=_KINDS.index)
        merged.append(Secret(kind, last.start, max(last.end, find.end)))
    return tuple(merged)
