"""The five feature types and who works on each (specs/1, Feature Types)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FeatureType(StrEnum):
    FULL_STACK = "full-stack"
    BACKEND = "backend"
    INFRA = "infra"
    CAPACITY = "capacity"
    CONFIG = "config"


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """One row of the table: the label that starts it, and the roles that take part."""

    type: FeatureType
    label: str
    title: str
    knowledge: tuple[str, ...]
    """Roles that may be asked; empty means that only people are asked."""
    execution: tuple[str, ...]


TYPES: dict[FeatureType, TypeSpec] = {
    spec.type: spec
    for spec in (
        TypeSpec(
            FeatureType.FULL_STACK,
            "feature",
            "full stack",
            ("architect", "product"),
            ("qa", "developer", "reviewer"),
        ),
        TypeSpec(
            FeatureType.BACKEND,
            "feature:backend",
            "backend only",
            ("architect", "product"),
            ("qa", "developer", "reviewer"),
        ),
        TypeSpec(
            FeatureType.INFRA,
            "feature:infra",
            "infrastructure",
            ("architect", "product"),
            ("devops", "reviewer"),
        ),
        TypeSpec(
            FeatureType.CAPACITY, "feature:capacity", "capacity change", (), ("devops", "reviewer")
        ),
        TypeSpec(FeatureType.CONFIG, "feature:config", "configuration update", (), ("devops",)),
    )
}

BY_LABEL: dict[str, TypeSpec] = {spec.label: spec for spec in TYPES.values()}


@dataclass(frozen=True, slots=True)
class FeatureRequest:
    """The issue as a question generator sees it: taken as it was when the label was set."""

    title: str
    body: str
    type: FeatureType


def type_of(label: str) -> TypeSpec | None:
    """The feature type that a label starts, or None for any other label. Case does not count."""
    return BY_LABEL.get(label.strip().lower())
