"""A document and its model: the value, or what is wrong with it, line by line."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from app.config.document import Document, Path
from app.config.problems import Problem, suggestion

M = TypeVar("M", bound=BaseModel)

_PLAIN = {
    "missing": "is missing",
    "tuple_type": "must be a list",
    "mapping_type": "must be a map",
    "dict_type": "must be a map",
    "model_type": "must be a map",
    "model_attributes_type": "must be a map",
    "int_type": "must be a whole number",
}


def validate(document: Document, model: type[M]) -> tuple[M | None, list[Problem]]:
    """The value in a document, or None and every reason why there is none."""
    try:
        return model.model_validate(document.data), []
    except ValidationError as error:
        return None, [_problem(document, model, detail) for detail in error.errors()]


def _problem(document: Document, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    path: Path = tuple(part for part in detail["loc"] if part != "[key]")
    if detail["type"] == "extra_forbidden":
        near = suggestion(str(path[-1]), _model_at(model, path[:-1]).model_fields)
        return document.problem(path, f"unknown key{near}")
    return document.problem(path, _words(detail))


def _words(detail: ErrorDetails) -> str:
    """What pydantic found, as one would say it to whoever wrote the file."""
    context: dict[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error":
            return f"must be {context['expected']}"
        case "greater_than_equal":
            return f"must be {context['ge']} or more"
        case "less_than_equal":
            return f"must be {context['le']} or less"
        case kind:
            return _PLAIN.get(kind, detail["msg"])


def _model_at(model: type[BaseModel], path: Path) -> type[BaseModel]:
    """The model of the map at a path; list positions and free keys lead no deeper."""
    for part in path:
        field = model.model_fields.get(str(part))
        model = (_model_in(field.annotation) if field else None) or model
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first model that an annotation mentions: `Route` in `tuple[Route, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_model_in(inner) for inner in get_args(annotation))
    return next((inner for inner in found if inner), None)
