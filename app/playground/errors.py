"""A refusal, as GitHub words it."""

from __future__ import annotations

from typing import Any

from app.playground.state import Json

DOCS = "https://docs.github.com/rest"


class ApiError(Exception):
    """Ends a request with a status and GitHub's body for it."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.errors = errors

    @property
    def body(self) -> Json:
        """The JSON of the answer."""
        data: Json = {"message": self.message}
        if self.errors is not None:
            data["errors"] = self.errors
        return {**data, "documentation_url": DOCS, "status": str(self.status)}


def not_found() -> ApiError:
    """Also for what may not be seen."""
    return ApiError(404, "Not Found")


def invalid(resource: str, name: str, code: str = "invalid", message: str = "") -> ApiError:
    """A field that cannot be taken as it is."""
    error: Json = {"resource": resource, "field": name, "code": code}
    if message:
        error["message"] = message
    return ApiError(422, "Validation Failed", [error])


def forbidden(actor_is_app: bool) -> ApiError:
    """Known, but not allowed."""
    if actor_is_app:
        return ApiError(403, "Resource not accessible by integration")
    return ApiError(403, "Must have admin rights to Repository.")
