"""The files and folders that the words of a task name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from app.features.task_words import pieces

_SUFFIXES = frozenset(
    """py pyi ts tsx js jsx mjs cjs json jsonl yaml yml toml md mdx txt sh bash sql html css scss
    go rs java kt kts swift dart rb php c h cc cpp hpp cs proto tf tfvars hcl ini cfg conf lock xml
    csv svg png jpg jpeg gif ico webp graphql prisma vue svelte gradle ipynb arb tpl j2 mako po rst
    snap feature ps1 bat""".split()
)
_TICKED = _SUFFIXES | frozenset(
    """astro bazel bzl clj cljs cljc cmake csproj cts cxx ejs elm erb erl ex exs fsproj fsx
    gemspec groovy haml hbs heex hpp hrl hs hxx jl less liquid lua ml mli mm mts nim nix pdf
    pl plist pm pug pyx sass scala sln sol styl twig vb vbproj wasm xaml zig""".split()
)
_DEEPER = _TICKED | set(
    "fs nu sv env log mod sum properties example template pem key s m r d".split()
)
_ROOTS = frozenset(
    """src tests lib docs k8s argocd kustomize helm .github specs scripts packages apps backend
    frontend configs migrations charts manifests bin deploy""".split()
)
_FILES = frozenset(
    """Dockerfile Containerfile Makefile Justfile Procfile Jenkinsfile Vagrantfile Gemfile Podfile
    Rakefile go.mod go.sum go.work CODEOWNERS AGENT_SCOPES LICENSE README CHANGELOG""".split()
)
_DOTTED = (".env", ".git", ".docker", ".editorconfig", ".eslint", ".prettier", ".npm", ".nvm")
_LIBRARIES = frozenset("node next vue react express nuxt three d3 chart ember backbone".split())
_MEDIA = frozenset("application text image audio video multipart font".split())
_DOMAINS = frozenset("com org net io dev ai".split())
_FIRM = r"[!-~À-ʯ\u0300-\u052f\u1e00-\u1fff]"
"""Scripts whose words stand apart; other letters, and emoji, may touch a path as prose."""
_GAP = (
    r"\s\x00-\x20\x7f-\xa9\xab-\xb9\xbb-\xbf\u2000-\u200b\u200e-\u25ff\u2900-\u297f\u3000-\u3004"
    r"\u3008-\u3020\u3030\u303d\u27f0-\u27ff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"\u060c\u061b\u061f\u0964\u0965"
)
_OTHER = rf"[^{_GAP}!-~À-ʯ\u0300-\u052f\u1e00-\u1fff]"
_LOOSE = rf"(?<!{_OTHER}){_OTHER}++"
_ENDING = "|".join(sorted(_DEEPER))
_BARE_WORD = re.compile(
    rf"(?:{_LOOSE}(?=/|\.(?:{_ENDING})(?![A-Za-z0-9])))?"
    rf"{_FIRM}+(?:(?:{_LOOSE}(?=[._-][0-9A-Za-z])|(?<=/){_LOOSE}(?=/)){_FIRM}+)*"
)
_TICKED_WORD = re.compile(rf"[^{_GAP}]+")
_CUT = re.compile(rf"::|:\d|(?<=\.)(?:{_ENDING})#")
_EMPHASIS = re.compile(r"([_*]{1,3}|~~)((?:\w|\.+/|\.\w+/).*(?:\.\w*[^\W_]|/))\1")
_CLOSING = re.compile(rf"(\.(?:{_ENDING}))_{{1,3}}$")
_SEEMS = re.compile(
    r"(?!v?\d+\.)[^.].*\.(?!(?:git|com|org|net|io|dev|ai)$)[A-Za-z][A-Za-z0-9]{0,9}"
)
_STARTS = _ROOTS | {"", ".", "..", "http:", "https:"}
_LONGEST_PATH = 300


def named_paths(*texts: str) -> tuple[str, ...]:
    """The words that look like files or folders, in order, each once.

    In backticks a file needs no known ending, and may have spaces. No addresses, versions, or
    “and/or”.
    """
    found: dict[str, None] = {}
    for piece, ticked in chain.from_iterable(map(pieces, texts)):
        for word in _words(piece.strip("`") if ticked else piece, ticked):
            parts = [word] if "{" in word else re.split("[,;|]", word)
            paths = (_bare(part) for part in parts if "://" not in part)
            found.update((path, None) for path in paths if _is_path(path, ticked))
    return tuple(found)


def _words(piece: str, ticked: bool) -> Iterator[str]:
    if not ticked:
        yield from _BARE_WORD.findall(piece.replace("](", "] (").replace("`", " "))
        return
    parts = re.split(r"[,;|\n]", piece) if " " in piece and "{" not in piece else [piece]
    for part in map(str.strip, parts):
        if _is_spaced(part):
            yield part
        else:
            yield from _TICKED_WORD.findall(part.replace("](", "] ("))


def _is_spaced(part: str) -> bool:
    """Whether it is one path with spaces, such as “src/My File.py”, and no command."""
    if len(part) > _LONGEST_PATH:
        return False
    *before, last = part.split(" ")
    if not before or "/" not in before[0] or before[0].isupper() or not _ends(_bare(last)):
        return False
    if before[0].split("/")[0] in {"bin", "scripts"} or any(map(_ends, before)):
        return False
    new = any("/" in word and word.split("/")[0] in _STARTS for word in [*before[1:], last])
    odd = (
        word != "-" and not (word and (word[0] in "_([" or word[0].isalnum())) for word in before
    )
    return not new and not any(odd)


def _ends(word: str) -> bool:
    stem, _, suffix = word.rpartition(".")
    return bool(stem) and suffix in _DEEPER


def _bare(word: str) -> str:
    """Without quotation marks, emphasis, brackets around it, line number, and full stop."""
    for _ in range(4):
        word = word.strip("\"'<>|!?,;“”").rstrip(".:")
        if len(word) <= 2 * _LONGEST_PATH and (found := _EMPHASIS.fullmatch(word)):
            word = found.group(2)
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
    if cut := _CUT.search(word):
        word = word[: cut.end() - 1 if cut.group().endswith("#") else cut.start()]
    return _CLOSING.sub(r"\1", word).removeprefix("./")


def _is_path(word: str, ticked: bool) -> bool:
    if not 1 < len(word) <= _LONGEST_PATH or "//" in word or word[0] in "@~-$/#":
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
        ending = suffix in (_TICKED if ticked else _SUFFIXES)
        plain = ending and stem[:1] not in ("", ".") and "@" not in word
        library = suffix in {"js", "json"} and stem.lower() in _LIBRARIES | {"res", "response"}
        return (plain and not library) or (known and (ticked or "." in last))
    if segments[0].rpartition(".")[0] and segments[0].rpartition(".")[2] in _DOMAINS:
        return False
    media = len(segments) == 2 and segments[0] in _MEDIA
    seems = ticked and not media and "." not in segments[0][1:] and _SEEMS.fullmatch(last)
    ends = bool(stem and dot) and (suffix in _DEEPER or seems)
    said = ticked or (len(segments) > 1 and word.isascii())
    folder = word.endswith("/") and said and len(segments[0]) > 1
    return bool(ends) or known or (folder and not media) or segments[0] in _ROOTS


def _whole(segment: str) -> bool:
    """Its brackets match, and it calls no function."""
    pairs = all(segment.count(pair[0]) == segment.count(pair[1]) for pair in ("()", "[]", "{}"))
    return bool(segment) and pairs and ("(" not in segment or segment[0] == "(")
