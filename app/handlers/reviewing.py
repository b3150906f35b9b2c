"""@degaulle looks through pull requests: every push of a feature's own, any other on `/review`."""

from __future__ import annotations

from dataclasses import replace

from app.actions import Action, ReviewPull, ShowCheck, SubmitReview
from app.events import Commented, PullChanged, Reviewed
from app.features.assigning import REVIEWER
from app.features.dispatch import TaskState
from app.features.model import Feature, FeatureState
from app.handlers.dispatching import dispatch
from app.handlers.drawing import draw
from app.handlers.facts import Facts, Permission
from app.handlers.outcome import Outcome, refusal
from app.handlers.spending import count, logged
from app.handlers.turn import Turn
from app.handlers.wanting import wanted
from app.texts import replies

CHECK = "baron/review"


def look(facts: Facts, event: PullChanged, feature: Feature) -> ReviewPull:
    """Have a push to a feature's pull request looked through."""
    return wanted(facts, event.issue.place, event.head, feature, draft=event.draft)


def review(facts: Facts, event: Commented) -> tuple[Outcome, list[Action]]:
    """`/review`: look again, at any pull request."""
    if facts.permission < Permission.TRIAGE:
        why = replies.may_not("people who may triage here")
        return refusal("review", why), []
    if not event.issue.pull_request or facts.head is None:
        return refusal("review", "that is for pull requests; say it there."), []
    feature = facts.feature
    found = wanted(facts, event.issue.place, facts.head.sha, feature, draft=facts.head.draft)
    key = f"{found.key}:asked:{event.comment_id}"
    asked = replace(found, asked=True, person=event.sender.login, key=key)
    return Outcome(), [asked]


def reviewed(event: Reviewed, facts: Facts) -> list[Action]:
    """The check always reports; a review is written where there is something new to be said."""
    feature = facts.feature
    actions: list[Action] = [_check(event)]
    fine = event.conclusion == "success"  # an App of its own takes back what it requested
    if event.news or event.asked or event.resolve or fine:
        actions.append(_review(event))
    if feature is None or feature.state is FeatureState.GONE:
        return actions
    turn = Turn(facts, feature)
    count(turn, event.spending)
    if feature.pull not in {0, event.place.number}:
        return [*turn.actions(), *actions]  # another one of the same branch
    turn.record(
        "review",
        facts.policy.handles.get(REVIEWER, "@degaulle"),
        pull=event.place.number,
        head=event.head,
        conclusion=event.conclusion,
        found=event.found,
        model=event.by or None,
        cost=logged(event.spending.cost),
    )
    blocked = event.conclusion == "failure"
    turn.update(blocked=blocked)
    if feature.state is FeatureState.REVIEW and not blocked and not event.draft:
        for task in turn.tasks:
            if task.state is TaskState.REVIEW:
                turn.put_task(replace(task, state=TaskState.DONE))
    dispatch(turn)
    draw(turn)
    return [*turn.actions(), *actions]


def _check(event: Reviewed) -> ShowCheck:
    return ShowCheck(
        key=f"check:{CHECK}:{event.place.repo_id}:{event.head}",
        feature_id=None,
        place=event.place,
        name=CHECK,
        head=event.head,
        conclusion=event.conclusion,
        title=event.title,
        summary=event.summary,
        notes=event.notes,
    )


def _review(event: Reviewed) -> SubmitReview:
    place = event.place
    return SubmitReview(
        key=event.key,
        feature_id=None,
        place=place,
        head=event.head,
        body=event.body if event.news or event.asked else "",
        without_lines=event.without_lines,
        notes=event.lines,
        resolve=event.resolve,
        blocking=event.conclusion == "failure",
    )
