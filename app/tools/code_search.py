"""`tool/code-search`: finds the files of the repository that a question speaks of (specs/2).

The query holds nothing but words: no qualifier, quote or operator that an asker typed gets
through, so that no question can search another repository.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from app.agents.retrieval import words
from app.questions.model import Answer, Inquiry, Source
from app.texts.safe import fence_safe, one_line, visible
from app.tools.protocols import foreign, nothing

HITS = 5
FRAGMENT = 300
"""Characters of a fragment that are shown."""

_LONGEST = 4000
_TERM_LONGEST = 45
"""Five such terms stay below the 256 characters that GitHub takes."""
_MOST_TERMS = 5
_ENOUGH_TERMS = 3
"""Every word must be in a file for it to be found: plain words only fill up to here."""

_QUALIFIER = re.compile(r"(?<![\w-])[\w-]+:(?:\"[^\"]*\"|\S*)")
_QUOTED = re.compile(r"`([^`\n]{1,80})`|\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”")
_TERM = re.compile(r"\w+(?:[.-]\w+)*")
_SHAPED = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|\w_\w|_\w{2}|[^\W\d]\w+\.\w\w")
_VAGUE = frozenset(
    "about above all also already any been before being below best better between both call called"
    " change code could current currently define defined did done each e.g either every file files"
    " find function get gets give given had happen happens here i.e implement implemented just keep"
    " kept know like look made make many might more most much need needed new now old one only"
    " other over own place please put question right same set some still such take tell thing use"
    " used uses using very want way were while within work works".split()
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A file that was found: its path, its page, and the lines that match."""

    path: str
    url: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What to search for, most telling first, and which of it must stand in the code as it is."""

    query: tuple[str, ...]
    identifiers: tuple[str, ...]


Search = Callable[[str, str], Awaitable[list[Hit]]]
"""(repository, words) → files. It adds `repo:owner/name` to the words itself."""


class CodeSearch:
    """Answers with the files found and their fragments."""

    name = "code-search"

    def __init__(self, search: Search) -> None:
        self._search = search

    async def answer(self, inquiry: Inquiry, repo: str) -> Answer:
        """Search the repository; a second time with fewer words if all of them find nothing.

        Raises what the search raises.
        """
        terms = terms_of(inquiry.text)
        looked_in: tuple[str, ...] = (f"the code of {repo}",)
        if not terms.query:
            reason = "The question has no word to search the code for: name a file or a function."
            return nothing(self.name, reason, looked_in)
        for query in _queries(terms):
            looked_in = (*looked_in, f"for: {query}")
            hits = await self._search(repo, query)
            if hits:
                return _answer(hits, terms.identifiers, repo, looked_in)
        return nothing(self.name, f"No file of {repo} has the words of the question.", looked_in)


def terms_of(text: str) -> Terms:
    """The three to five most telling words of a question, as far as it has them.

    Names of the code come first, then what was quoted, then the longest words.
    """
    plain = _without_qualifiers(text)
    quoted = [next(filter(None, found)) for found in _QUOTED.findall(plain)]
    every = _terms(plain)
    alone = [terms[0] for terms in map(_terms, quoted) if len(terms) == 1]
    identifiers = _once([*(term for term in every if _SHAPED.search(term)), *alone])
    first = _once([*identifiers, *_terms(" ".join(quoted))])[:_MOST_TERMS]
    rest = sorted((term for term in every if len(term) > 2), key=len, reverse=True)
    filled = _once([*first, *rest])[: max(len(first), _ENOUGH_TERMS)]
    return Terms(tuple(filled), tuple(identifiers))


def _without_qualifiers(text: str) -> str:
    """The text without `word:value` and backslashes, in one spelling of each character.

    Characters that only look like a colon become one first, and invisible ones go, so that they
    cannot hide a qualifier.
    """
    known = unicodedata.normalize("NFKC", visible(text[:_LONGEST]))[:_LONGEST]
    return _QUALIFIER.sub(" ", known.replace("\\", "").replace("::", " "))


def _terms(text: str) -> list[str]:
    return [term for term in _TERM.findall(text) if _telling(term)]


def _telling(term: str) -> bool:
    """No stop word (which GitHub's operators AND, OR and NOT are too), no number, not endless."""
    if len(term) > _TERM_LONGEST or not any(map(str.isalpha, term)) or term.lower() in _VAGUE:
        return False
    return bool(words(term)) or not term.isascii()


def _once(terms: Iterable[str]) -> list[str]:
    """Each term once, whatever its capitals; the first spelling stays."""
    seen: dict[str, str] = {}
    for term in terms:
        seen.setdefault(term.lower(), term)
    return list(seen.values())


def _queries(terms: Terms) -> list[str]:
    """All the words, then only the most telling one or two."""
    fewer = terms.query[: 1 if terms.identifiers else 2]
    return list(dict.fromkeys((" ".join(terms.query), " ".join(fewer))))


def _answer(
    hits: Sequence[Hit], identifiers: Sequence[str], repo: str, looked_in: tuple[str, ...]
) -> Answer:
    exact = [hit for hit in hits if _has_one(hit, identifiers)]
    shown = [*exact, *(hit for hit in hits if hit not in exact)][:HITS]
    if exact:
        doubt = "These files have a name from the question; they may still not answer it."
    else:
        doubt = "These files share words with the question; they may be about something else."
    parts = [f"These files of {repo} speak of it:"]
    for hit in shown:
        parts += [
            f"{one_line(hit.path, 200)}",
            fence_safe(foreign(hit.fragment, FRAGMENT), FRAGMENT),
        ]
    return Answer(
        content="\n\n".join(parts),
        rationale=f"The code search found {len(hits)} of them. {doubt}",
        # Evidence, not an answer: below 80, the usual threshold, so that somebody reads it first.
        confidence=70 if exact else 50,
        uncertainty_reasons=(doubt,),
        sources=tuple(
            Source(one_line(hit.path, 200), foreign(hit.url, 500), foreign(hit.fragment, FRAGMENT))
            for hit in shown
        ),
        agent=f"tool/{CodeSearch.name}",
        backend=CodeSearch.name,
        looked_in=looked_in,
    )


def _has_one(hit: Hit, identifiers: Sequence[str]) -> bool:
    """Whether the file has one of the names, spelt the same and not as part of another name."""
    text = f"{hit.path}\n{hit.fragment}"
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in identifiers)
