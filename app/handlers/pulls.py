"""A pull request: the configuration it brings is checked where everybody sees it."""

from __future__ import annotations

from app.actions import Action, Note, ShowCheck
from app.events import PullChanged
from app.handlers.facts import Facts, Wrong
from app.texts.checks import config_summary

CONFIG = "baron/config"


def changed(event: PullChanged, facts: Facts) -> list[Action]:
    """`baron/config` on the head; nothing where the pull request brings no configuration."""
    if facts.proposed is None:
        return []
    wrong = facts.proposed
    place = event.issue.place
    title = "The configuration may come into force"
    if wrong:
        title = f"{len(wrong)} {'mistake' if len(wrong) == 1 else 'mistakes'} in the configuration"
    return [
        ShowCheck(
            key=f"check:{CONFIG}:{place.repo_id}:{event.head}",
            feature_id=None,
            place=place,
            name=CONFIG,
            head=event.head,
            conclusion="failure" if wrong else "success",
            title=title,
            summary=config_summary(wrong),
            notes=tuple(_note(one) for one in wrong),
        )
    ]


def _note(wrong: Wrong) -> Note:
    where = f"{wrong.where}: " if wrong.where else ""
    return Note(wrong.file, max(wrong.line, 1), f"{where}{wrong.what}")
