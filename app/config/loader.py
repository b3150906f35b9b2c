"""From texts to a configuration. Only `load_config` reads files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel

from app.config import check
from app.config.document import MAX_BYTES, Document, Unreadable, built_in, empty, read
from app.config.models import Agents, Answerers, Baron
from app.config.problems import ConfigInvalid, Problem, path_text
from app.config.roster import ROSTER
from app.config.validate import validate

SECTIONS: dict[str, type[BaseModel]] = {"answerers": Answerers, "agents": Agents, "baron": Baron}
FILES: dict[str, str] = {name: f"{name}.yaml" for name in SECTIONS}


@dataclass(frozen=True)
class Config:
    """A configuration that is fit to be in force, and where each of its words was written."""

    answerers: Answerers
    agents: Agents
    baron: Baron
    warnings: tuple[Problem, ...] = ()
    documents: Mapping[str, Document] = field(default_factory=dict, repr=False)
    """Section → what it was read from; `app.config.layers` puts nearer ones before it."""

    @cached_property
    def origins(self) -> Mapping[str, str]:
        """`answerers.routes[0].sla` → `answerers.yaml:12`, for every word that was written."""
        return {
            path_text((section, *path)): str(mark)
            for section, document in self.documents.items()
            for path, mark in document.marks.items()
        }

    def model_for(self, role: str, capability: str | None = None) -> str | None:
        """The model a role is asked with: its own, else the capability's, else the provider's."""
        found = self.agents.find(role)
        if found is not None and found.model:
            return found.model
        by_capability = self.agents.capabilities
        default = by_capability.get(self.answerers.default_capability)
        return by_capability.get(capability or "", default)


def build_config(texts: Mapping[str, str]) -> Config:
    """The configuration in these texts (file name → content). Raises `ConfigInvalid`.

    A file that is not there is as if empty; without `agents.yaml` the built-in roster serves.
    """
    return _build(texts, {})


def _build(texts: Mapping[str, str], broken: Mapping[str, Problem]) -> Config:
    documents: dict[str, Document] = {}
    errors = list(broken.values())
    for section, file in FILES.items():
        if file in broken:
            continue
        try:
            documents[section] = read(texts[file], file) if file in texts else _absent(section)
        except Unreadable as error:
            errors.append(error.problem)
    return assemble(documents, errors)


def _absent(section: str) -> Document:
    return built_in(ROSTER, "built-in roster") if section == "agents" else empty(FILES[section])


def assemble(documents: Mapping[str, Document], errors: list[Problem]) -> Config:
    """The configuration in these documents. Raises `ConfigInvalid`, with errors found before."""
    errors = list(errors)
    parts: dict[str, BaseModel] = {}
    for section, document in documents.items():
        value, found = validate(document, SECTIONS[section])
        errors += found
        if value is not None:
            parts[section] = value
    checked = _checked(parts, documents)
    if checked is not None:
        errors += check.errors(checked)
    baron = parts.get("baron")
    if errors or checked is None or not isinstance(baron, Baron):
        raise ConfigInvalid(errors)
    warnings = tuple(check.warnings(checked))
    return Config(checked.answerers, checked.agents, baron, warnings, dict(documents))


def _checked(
    parts: Mapping[str, BaseModel], documents: Mapping[str, Document]
) -> check.Checked | None:
    answerers, agents = parts.get("answerers"), parts.get("agents")
    if isinstance(answerers, Answerers) and isinstance(agents, Agents):
        return check.Checked(answerers, agents, documents["answerers"], documents["agents"])
    return None


def load_config(folder: Path) -> Config:
    """The configuration in a folder. Raises `ConfigInvalid`, and `OSError` if it cannot be read."""
    names = {entry.name for entry in folder.iterdir()}
    texts: dict[str, str] = {}
    broken: dict[str, Problem] = {}
    for file in FILES.values():
        if file in names:
            try:
                texts[file] = _text(folder / file)
            except UnicodeDecodeError as error:
                line = error.object.count(b"\n", 0, error.start) + 1
                broken[file] = Problem(file, line, "", "is not UTF-8")
    return _with_names_checked(_build(texts, broken), names)


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        raw = stream.read(MAX_BYTES + 8)
    # What is too large is refused when it is read as YAML, be it cut within a character or not.
    return raw.decode("utf-8-sig", "replace" if len(raw) > MAX_BYTES else "strict")


def _with_names_checked(config: Config, names: set[str]) -> Config:
    """Warn of files that look like ours and are not read."""
    warnings = [
        Problem(f"{section}.yml", 1, "", f"is not read: its name must be {file}")
        for section, file in FILES.items()
        if f"{section}.yml" in names
    ]
    if not names & set(FILES.values()):
        what = f"is not here, nor is another of {', '.join(FILES.values())}: defaults are in force"
        warnings.append(Problem(FILES["answerers"], 1, "", what))
    all_warnings = (*config.warnings, *warnings)
    return Config(config.answerers, config.agents, config.baron, all_warnings, config.documents)
