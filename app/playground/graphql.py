"""The few GraphQL operations that the playground knows, recognised by their words.

There is no GraphQL engine here: arguments are found by regular expressions, and of the answer only
the fields whose names stand in the query are given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from app.playground.state import Json

MUTATIONS = {
    "markPullRequestReadyForReview": "pullRequestId",
    "convertPullRequestToDraft": "pullRequestId",
    "resolveReviewThread": "threadId",
    "unresolveReviewThread": "threadId",
}
"""Each with the one argument of its `input` that counts."""
MOST = 100
_CALL = r"\b{name}\s*\(([^)]*)\)"
_ARGUMENT = re.compile(r'(\w+)\s*:\s*(\$\w+|"[^"]*"|-?\d+|null)')


class GraphError(Exception):
    """A refusal in GraphQL's form: status 200, with `errors` beside the `data`."""

    def __init__(
        self, kind: str, message: str, path: list[str] | None = None, data: Json | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message
        self.path, self.data = path or [], data

    @property
    def body(self) -> Json:
        """The JSON of the answer."""
        error: Json = {"message": self.message}
        if self.kind:
            error["type"] = self.kind
        if self.path:
            error |= {"path": self.path, "locations": [{"line": 1, "column": 1}]}
        return {"data": self.data, "errors": [error]} if self.path else {"errors": [error]}


@dataclass(frozen=True)
class Asked:
    """A query with its variables."""

    query: str
    variables: Json = field(default_factory=dict)

    def arguments(self, name: str) -> Json | None:
        """The arguments of a field or of a mutation's `input`; None if it is not in the query."""
        found = re.search(_CALL.format(name=name), self.query)
        if found is None:
            return None
        whole = re.fullmatch(r"\s*input\s*:\s*\$(\w+)\s*", found[1])
        if whole:
            given = self._variable(whole[1])
            return given if isinstance(given, dict) else {}
        return {name: self._value(text) for name, text in _ARGUMENT.findall(found[1])}

    def mutation(self) -> tuple[str, str] | None:
        """The mutation's name and the id that it is given; None if it is not one of ours."""
        for name, argument in MUTATIONS.items():
            given = self.arguments(name)
            if given is not None:
                return name, str(given.get(argument) or "")
        return None

    def only(self, data: Any) -> Any:
        """Of an answer, the fields that were asked for."""
        if isinstance(data, list):
            return [self.only(item) for item in data]
        if not isinstance(data, dict):
            return data
        words = re.findall(r"\w+", re.sub(r"\([^)]*\)", "", self.query))
        return {name: self.only(value) for name, value in data.items() if name in words}

    def _value(self, text: str) -> Any:
        if text.startswith("$"):
            return self._variable(text[1:])
        if text == "null":
            return None
        return text[1:-1] if text.startswith('"') else int(text)

    def _variable(self, name: str) -> Any:
        required = re.search(rf"\${name}\s*:\s*[\w\[\]!]*!", self.query)
        if required and self.variables.get(name) is None:
            raise GraphError("", f"Variable ${name} was provided invalid value")
        return self.variables.get(name)


def connection(items: list[Any], asked: Json, parent: str, field_name: str) -> Json:
    """A page of a list, with GitHub's `pageInfo`. Raises `GraphError` without `first`."""
    first, after = asked.get("first"), str(asked.get("after") or "")
    if not isinstance(first, int):
        text = (
            f"You must provide a `first` or `last` value to properly paginate the `{field_name}`"
            f" connection."
        )
        raise GraphError("MISSING_PAGINATION_BOUNDARIES", text, [parent, field_name])
    if not 0 < first <= MOST:
        text = (
            f"Requesting {first} records on the `{field_name}` connection exceeds the `first`"
            f" limit of {MOST} records."
        )
        raise GraphError("EXCESSIVE_PAGINATION", text, [parent, field_name])
    digits = after.removeprefix("cursor:")
    if after and not digits.isdigit():
        text = f"`{after}` does not appear to be a valid cursor."
        raise GraphError("INVALID_CURSOR_ARGUMENTS", text, [parent, field_name])
    start = int(digits or 0)
    page = items[start : start + first]
    end = start + len(page)
    return {
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "endCursor": f"cursor:{end}" if page else None,
        },
        "nodes": page,
    }
