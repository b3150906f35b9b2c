"""Ways from documents to a merged pull request that go wrong."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from markdown_it import MarkdownIt

from app.actions import (
    DropAgentWork,
    LandTask,
    ReviewPull,
    RunTask,
    SaveAllowance,
    ShowCheck,
    ShowPull,
)
from app.events import (
    Closed,
    EffectFailed,
    Labeled,
    Person,
    PullChanged,
    PullClosed,
    PullShown,
    Pushed,
    Reopened,
    TaskLanded,
    Unlabeled,
)
from app.execution.workshop import subject
from app.features.dispatch import Stopped
from app.features.model import FeatureState
from app.github.client import GitHubError
from app.github.payloads import read_event
from app.handlers.facts import Permission
from app.scopes.pulls import Judged, Trespass
from app.texts.checks import scope_summary
from app.texts.pulls import pull_title
from tests.handlers.test_allow import PULL
from tests.handlers.test_allow import say as say_on_pull
from tests.handlers.test_allow import world as pull_world
from tests.handlers.test_dispatch import (
    building,
    did,
    planned,
    pull_event,
    push,
    ran,
    reviewed,
    sent,
    specified,
    states,
    status,
)
from tests.handlers.world import PLACE, World

ONE = "- [ ] T001 Write `src/a.py` (Q1)\n"
OFFERED = "- [ ] T001 Edit `docs/a.md`\n- [ ] T002 Write `src/b.py`\n"
REVIEWED = "- [ ] T001 Write `src/a.py`\n- [ ] T002 Review everything\n"


def on_pull(world: World, number: int = 13, **changes: Any) -> Any:
    return world.issue(pull_request=True, place=replace(PLACE, number=number), **changes)


# --- wedges -------------------------------------------------------------------------------------


def test_resume_after_the_pull_request_was_closed_does_not_stay_on_the_closed_one() -> None:
    """The known number is read and edited for ever; nobody reopens it and no other is opened."""
    from app.attempt import Attempt
    from app.perform_pulls import show_pull

    world = building(ONE)
    world.send(PullShown(1, 13))
    world.send(pull_event(world, PullClosed, merged=False))
    world.say("/resume")
    (wanted,) = world.of(ShowPull)
    calls: list[tuple[str, str]] = []

    class Client:
        owner, name = "acme", "storefront"

        async def call(self, method: str, path: str, **kwargs: Any) -> Any:
            calls.append((method, path, json.dumps(kwargs.get("json") or {})))  # type: ignore[arg-type]
            return {
                "number": 14 if method == "POST" else 13, "node_id": "n", "draft": True,
                "state": "open" if method == "POST" else "closed", "title": wanted.title,
                "body": wanted.body, "head": {"sha": "9" * 40, "ref": wanted.head},
                "base": {"ref": "main"}, "user": {"login": "baron[bot]"}, "merged_at": None,
            }  # fmt: skip

        async def pages(self, path: str, **kwargs: Any) -> list[Any]:
            return []

        async def graphql(self, *args: Any) -> Any:
            calls.append(("GRAPHQL", "", ""))  # type: ignore[arg-type]
            return {}

    due = type("Due", (), {"doubtful": False, "looks": 9, "result": {}, "attempts": 1})()

    async def permit() -> float:
        return 0.0

    attempt = Attempt(None, Client(), due, permit)  # type: ignore[arg-type]
    asyncio.run(show_pull(attempt, wanted))
    opened = [one for one in calls if one[0] in {"POST", "GRAPHQL"} or '"open"' in one[2]]  # type: ignore[misc]
    assert opened, "a closed pull request is neither reopened nor replaced"


def test_dependency_on_a_later_task_is_no_deadlock() -> None:
    world = building("- [ ] T001 Write `src/a.py` (depends on T002)\n- [ ] T002 Write `src/b.py`\n")
    assert sent(world) or "T001" in status(world).partition("**Next:**")[2].partition("\n")[0]


def test_a_circle_says_next_that_a_person_has_to_end_it() -> None:
    world = building(
        "- [ ] T001 Write `src/a.py` (depends on T002)\n"
        "- [ ] T002 Write `src/b.py` (depends on T001)\n"
    )
    assert sent(world) == []
    assert "the agents go on by themselves" not in status(world)


def test_a_task_that_waits_for_itself_is_done_or_told() -> None:
    world = building("- [ ] T001 Write `src/a.py` (depends on T001)\n")
    assert sent(world) == ["T001"] or "the agents go on by themselves" not in status(world)


@pytest.mark.parametrize("state", ["writing", "paused"])
def test_a_push_while_the_feature_does_not_build_is_not_lost(state: str) -> None:
    """The person did what they were asked for; nobody tells them to push again."""
    world = building(OFFERED)
    assert states(world)["T001"] == "offered"
    world.facts = {"planned": planned(OFFERED)}
    world.say("/pause" if state == "paused" else "/correct Q1 Something else.")
    push(world, "docs/a.md", message="Task: T001")
    if state == "paused":
        world.say("/resume")
    else:
        world.committed()
    assert states(world)["T001"] == "done"


def test_what_of_a_task_could_not_be_stored_does_not_hold_it_for_ever() -> None:
    """`give_up` turns a dead `TaskLanded` into this; no command helps a task that is landing."""
    world = building(ONE)
    ran(world, "T001")
    told = "Something went wrong inside; the operator finds it in the log of the service."
    world.send(EffectFailed(1, "work", told))
    said = status(world)
    world.say("/retry T001")
    assert "went wrong inside" in said or world.replies() == []


def test_a_conflict_on_a_path_that_is_no_utf8_can_be_stored() -> None:
    """PostgreSQL takes no lone surrogate in jsonb: the delivery dies, the task lands for ever."""
    from app.execution.git import names
    from app.execution.landing import Conflict
    from app.execution.workshop import Workshop

    async def found(*_: Any) -> Conflict:
        return Conflict(tuple(names(b"src/\xff.py\0")))

    import app.execution.workshop as module

    shop = object.__new__(Workshop)
    shop._mirrors, shop._secrets = None, frozenset()  # type: ignore[assignment]
    shop._fetched = AsyncMock()  # type: ignore[method-assign]  # stands in
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "land", found)
        wanted = LandTask("k", 1, PLACE, "T001", 1, "a" * 40, "012-x")
        event = asyncio.run(shop.land(wanted))
    world = building(ONE)
    ran(world, "T001")
    world.send(replace(event, run=1))
    (path,) = world.entry("task.landed").data["conflict"]
    assert path.encode() == rb"src/\udcff.py"


def test_a_landing_is_told_although_tidying_up_fails() -> None:
    """`land` ends with `prune()`; what that raises hides the merge, for ever and silently."""
    from app.execution.git import GitFailed
    from workers.tasks import Tasks

    tasks = object.__new__(Tasks)
    shop = AsyncMock()
    shop.land.return_value = TaskLanded(1, "T001", 1, "d" * 40)
    shop.prune.side_effect = GitFailed("no space left on device")
    tasks._opened = AsyncMock(return_value=shop)  # type: ignore[method-assign]  # stands in
    wanted = LandTask("k", 1, PLACE, "T001", 1, "a" * 40, "012-x")
    assert asyncio.run(tasks.land(wanted, None)).head == "d" * 40  # type: ignore[arg-type]


def test_a_pull_request_that_failed_is_tried_again_with_retry() -> None:
    world = building(ONE)
    did(world, "T001")
    world.send(EffectFailed(1, "pull", "The pull request could not be written: 403."))
    world.say("/retry")
    assert world.of(ShowPull), world.replies()


def test_a_pull_request_that_could_be_written_after_all_is_no_problem_any_more() -> None:
    """Only a new number clears it, and an edit of a known one brings none."""
    from app.perform import Done
    from workers.outbox import _event_of

    world = building(ONE)
    world.send(PullShown(1, 13))
    world.send(EffectFailed(1, "pull", "The pull request could not be written: 502."))
    did(world, "T001")
    event = _event_of(world.of(ShowPull)[0], Done({"number": 13}))
    if event is not None:
        world.send(event)
    assert "could not be written" not in status(world)


def test_retry_of_the_review_has_it_reviewed() -> None:
    """👍, and nothing happens: the task is `review` until somebody pushes."""
    world = building(REVIEWED, reviewer=True)
    world.send(PullShown(1, 13))
    did(world, "T001")
    world.send(reviewed())
    assert states(world)["T002"] == "done"
    world.say("/retry T002")
    assert world.of(ReviewPull) or "confused" in world.reactions()


def test_a_review_that_stop_dropped_is_wanted_again() -> None:
    """`DropAgentWork` of `/stop` also drops the review: `baron/review` never reports."""
    world = building(REVIEWED, reviewer=True)
    world.send(PullShown(1, 13))
    did(world, "T001")
    world.send(pull_event(world))
    assert world.of(ReviewPull)
    world.say("/stop")
    assert DropAgentWork(1) in world.actions
    world.say("/resume")
    assert world.of(ReviewPull)


def test_a_late_number_is_not_kept_after_the_merge() -> None:
    """The next round would edit the merged pull request and never open one."""
    world = building(ONE)
    did(world, "T001")
    world.send(pull_event(world, PullClosed, merged=True))
    world.send(PullShown(1, 13))
    assert world.feature.pull == 0


def test_an_empty_list_is_nothing_to_do_even_if_there_were_tasks_before() -> None:
    world = specified(ONE)
    world.facts = {"planned": planned("# Tasks\n\nNone.\n")}
    world.say("/go")
    assert world.feature.state is FeatureState.PLANNED
    assert "has no open task" in "".join(world.replies())


def test_a_list_that_became_empty_while_building_is_not_all_done() -> None:
    """A model that writes a tasks.md without boxes makes the pull request ready."""
    world = building(ONE)
    world.say("/correct Q1 Something else.")
    world.facts = {"planned": planned("# Tasks\n\nSee plan.md.\n")}
    world.committed()
    assert world.feature.state is not FeatureState.REVIEW


def test_resume_said_on_the_closed_pull_request_is_not_about_the_issue() -> None:
    world = building(ONE)
    world.send(PullShown(1, 13))
    world.send(pull_event(world, PullClosed, merged=False))
    world.say("/resume", issue=on_pull(world, closed=True))
    assert "the issue is closed" not in "".join(world.replies())


def test_reopening_the_pull_request_undoes_its_closing() -> None:
    world = building(ONE)
    world.send(PullShown(1, 13))
    world.send(pull_event(world, PullClosed, merged=False))
    assert "undo that, and it goes on" in status(world)
    world.send(pull_event(world, PullChanged, reopened=True))
    assert world.feature.state is FeatureState.BUILDING


def test_a_finished_feature_whose_label_is_tidied_away_stays_finished() -> None:
    world = building(ONE)
    did(world, "T001")
    world.send(pull_event(world, PullClosed, merged=True))
    gone = world.issue(labels=())
    world.send(Unlabeled("d-1", Person("mara"), gone, "feature"))
    assert world.feature.state is FeatureState.DONE


# --- done twice or lost -------------------------------------------------------------------------


def test_an_assignment_to_an_agent_outlives_new_documents() -> None:
    world = building()
    world.say("/assign T004 @dede")
    assert (states(world)["T004"], world.tasks["T004"].agent) == ("waiting", "@dede")
    world.say("/correct Q1 Something else.")
    world.committed()
    assert world.tasks["T004"].agent == "@dede"


def test_other_words_of_the_model_do_not_have_finished_work_done_again() -> None:
    """Money: a writer words tasks.md anew each time, and every finished task is sent again."""
    first = "- [ ] T001 Write `src/a.py`\n- [ ] T002 Write `src/b.py` (Q1)\n"
    world = building(first)
    did(world, "T001", "T002")
    world.facts = {"planned": planned(first)}
    world.say("/correct Q1 Something else.")
    second = "- [ ] T001 Create `src/a.py`\n- [ ] T002 Write `src/b.py` (Q1)\n"
    world.facts = {"planned": planned(second)}
    world.committed()
    assert sent(world) == ["T002"]


def test_a_draft_look_does_not_end_the_review_task() -> None:
    """The look at the last landing (rules alone) comes back when all tasks are over."""
    world = building(REVIEWED, reviewer=True)
    world.send(PullShown(1, 13))
    world.send(pull_event(world, draft=True))
    (wanted,) = world.of(ReviewPull)
    assert (wanted.draft, wanted.model) == (True, None)
    did(world, "T001")
    assert world.feature.state is FeatureState.REVIEW
    world.send(reviewed(draft=True))
    assert states(world)["T002"] == "review"


def test_a_push_of_nothing_ends_nothing() -> None:
    """A force push back to an older commit lists no commits."""
    world = building(OFFERED)
    branch = world.feature.branch
    world.send(Pushed("d-push", Person("rosa"), world.issue(), branch, "2" * 40, ()))
    assert states(world)["T001"] == "offered"


def test_a_push_that_corrects_the_tasks_ends_none() -> None:
    """The status says of lines that cannot be read: correct it there."""
    world = building(OFFERED)
    push(world, f"{world.feature.folder}/tasks.md", message="Correct line 3")
    assert states(world)["T001"] == "offered"


def test_tasks_that_are_corrected_while_building_are_read() -> None:
    world = building(OFFERED + "- [ ] T002 Write `src/c.py`\n")
    assert "correct it there" in status(world)
    own = OFFERED + "- [ ] T003 Write `src/c.py`\n"
    world.facts = {"planned": planned(own)}
    push(world, f"{world.feature.folder}/tasks.md", message="Correct line 3")
    world.say("/tasks")
    assert "T003" in world.tasks


def test_commits_of_others_that_come_with_an_update_of_the_branch_end_nothing() -> None:
    """GitHub marks what is on another branch already: `distinct` is false."""
    world = building("- [ ] T001 Edit `docs/a.md`\n- [ ] T002 Edit `docs/b.md`\n")
    payload = {
        "ref": f"refs/heads/{world.feature.branch}",
        "after": "2" * 40,
        "repository": {"id": 70, "full_name": "acme/storefront"},
        "installation": {"id": 7},
        "sender": {"login": "rosa", "type": "User"},
        "commits": [
            {
                "id": "1" * 40,
                "message": "T001 Write the refunds\n\nAgent: dede\nTask: T001\nRun: 2.T001.1",
                "distinct": False,
                "modified": ["src/refunds.py"],
            },
            {"id": "2" * 40, "message": "Merge branch 'main' into 012-x", "distinct": True},
        ],
    }
    event = read_event("push", "d-push", payload)
    assert isinstance(event, Pushed)
    world.send(event)
    assert states(world)["T001"] == "offered"


def test_two_allowances_in_one_comment_both_count() -> None:
    made = pull_world()
    say_on_pull(made, "/allow k8s/a.yaml Yes.\n/allow docs/a.md Yes.", "sol")
    assert len(made.of(SaveAllowance)) == 2
    assert made.of(ShowCheck)[-1].conclusion == "success"


# --- rights -------------------------------------------------------------------------------------


def test_the_authors_reopening_does_not_undo_a_maintainers_closing_of_the_pull_request() -> None:
    world = building(ONE)
    world.send(PullShown(1, 13))
    world.send(pull_event(world, PullClosed, merged=False))
    world.send(Closed("d-1", Person("rosa"), world.issue(closed=True)))
    world.send(Reopened("d-2", Person("rosa"), world.issue()), Permission.READ)
    assert world.feature.state is FeatureState.STOPPED


@pytest.mark.parametrize("merged", [True, False])
def test_another_pull_request_from_the_branch_is_not_the_features(merged: bool) -> None:
    """Anybody of the organisation may open one into another base, and close it."""
    world = building()
    world.send(PullShown(1, 13))
    other = replace(pull_event(world, PullClosed, merged=merged), issue=on_pull(world, 14))
    world.send(other)
    assert world.feature.state is FeatureState.BUILDING


def test_a_review_of_another_pull_request_from_the_branch_ends_nothing() -> None:
    world = building(REVIEWED)
    world.send(PullShown(1, 13))
    did(world, "T001")
    world.send(reviewed(conclusion="failure"))
    world.send(replace(pull_event(world, PullChanged), issue=on_pull(world, 14)))
    if world.of(ReviewPull):
        world.send(reviewed(place=replace(PLACE, number=14)))
    assert world.feature.blocked


def test_one_line_of_codeowners_that_cannot_be_read_does_not_take_owners_their_paths() -> None:
    """GitHub leaves that line out; here whoever maintains may allow everything."""
    made = pull_world(replace(PULL, owners="/docs/ not-an-owner\n/k8s/ @sol\n"))
    say_on_pull(made, "/allow k8s/a.yaml Because.", "mara", Permission.MAINTAIN)
    assert made.of(SaveAllowance) == []


def test_the_table_of_tasks_is_for_those_who_may_triage() -> None:
    """`/help` says so; it also reads tasks.md anew."""
    world = specified()
    world.facts = {"planned": planned(ONE)}
    world.say("/tasks", by="rosa", permission=Permission.READ)
    assert "T003" in states(world)
    assert states(world)["T003"] == "waiting"


# --- hostile text -------------------------------------------------------------------------------


def rendered_prose(text: str) -> str:
    """What Markdown takes for prose, without code."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found += [
            one.content for one in token.children or () if one.type in {"text", "html_inline"}
        ]
    return "\n".join(found)


@pytest.mark.parametrize("evil", ["@mara", "fixes #99"])
def test_a_path_with_backticks_neither_pings_nor_closes(evil: str) -> None:
    world = building()
    path = f"docs/a`{evil}`b.md"
    ran(world, "T001", stopped=(Stopped(path, "it is in nobody's scope"),))
    line = next(one for one in status(world).splitlines() if "docs/a" in one)
    assert evil not in rendered_prose(line)
    body = world.of(ShowPull)[-1].body
    line = next(one for one in body.splitlines() if "docs/a" in one)
    assert evil not in rendered_prose(line)


@pytest.mark.parametrize("evil", ["fixes #99", "[skip ci]"])
def test_a_title_has_no_power_in_the_commit_that_merges(evil: str) -> None:
    """GitHub puts the title into the message of the merge, and of a squash."""
    world = specified()
    feature = replace(world.feature, title=f"Export orders {evil}")
    assert evil not in pull_title(feature)


@pytest.mark.parametrize("evil", ["fixes GH-99", "closes gh-99"])
def test_a_tasks_text_closes_no_issue_from_a_commit(evil: str) -> None:
    assert not re.search(r"(?:fix|clos)es GH-99", subject("T001", evil), re.IGNORECASE)


def test_a_name_of_the_roster_is_no_person() -> None:
    """@duc is an agent here, and somebody else on GitHub: he would be pinged."""
    world = building()
    did(world, "T001", "T002", "T003")
    world.say("/assign T004 @duc")
    assert not any("@duc, " in one.body for one in world.shown.values())


def test_a_summary_of_a_check_is_never_longer_than_github_takes() -> None:
    """A required check that is refused as too long blocks for ever, and says nothing."""
    owners = tuple(f"@acme/{'team' * 20}{n}" for n in range(4))
    paths = [f"docs/{'deep/' * 36}{n:04d}.md" for n in range(1000)]
    judged = Judged(tuple(Trespass(path, "dede", owners, 4, "no") for path in paths))
    assert len(scope_summary(judged, own=True)) <= 65_535


# --- money, noise, sentences --------------------------------------------------------------------


def test_a_model_does_not_review_while_the_feature_is_paused() -> None:
    world = building(ONE, reviewer=True)
    world.say("/pause")
    world.send(pull_event(world, draft=False))
    assert [one.model for one in world.of(ReviewPull)] in ([], [None])


def test_a_model_is_not_paid_before_the_threads_could_be_read() -> None:
    """Otherwise each new try, without end, is paid for again."""
    import app.looking as looking
    from app.agents.reviewing import ModelReview

    asked: list[int] = []

    class Reviewer:
        async def review(self, subject: Any, account: Any = None) -> ModelReview:
            asked.append(1)
            raise looking.AgentUnavailable("no")

    async def refuse(*_: Any) -> Any:
        raise GitHubError("Resource not accessible by integration", 403)

    async def subject_of(*_: Any) -> Any:
        from app.github.subject import Looked
        from app.review.model import Subject

        return Looked(Subject((), (), ()), "t", "b", "baron[bot]", False, "9" * 40)

    wanted = ReviewPull("review:70:13", 1, replace(PLACE, number=13), "9" * 40, model="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looking, "threads", refuse)
        patch.setattr(looking, "read_subject", subject_of)
        model = looking.Model(Reviewer(), None)  # type: ignore[arg-type]
        with pytest.raises(GitHubError):
            asyncio.run(looking.look(None, wanted, lambda _: True, model))  # type: ignore[arg-type]
    assert asked == []


def test_somebody_is_told_when_a_task_has_failed() -> None:
    """A comment that is edited tells nobody; a person must act, and everything waits."""
    world = building(ONE)
    before = set(world.shown)
    ran(world, "T001", commit="", error="no answer")
    assert set(world.shown) - before


def test_a_task_that_is_given_to_another_is_taken_from_the_first_one() -> None:
    world = building()
    did(world, "T001", "T002", "T003")
    world.say("/assign T004 @rosa")
    world.say("/assign T004 @sol")
    assert not any("@rosa, this is yours" in one.body for one in world.shown.values())


def test_after_the_merge_no_comment_asks_people_for_tasks() -> None:
    world = building(OFFERED)
    assert any("people are to do this" in one.body for one in world.shown.values())
    world.send(pull_event(world, PullClosed, merged=True))
    assert not any("people are to do this" in one.body for one in world.shown.values())


def test_another_type_after_a_pause_bypasses_marie_and_dede() -> None:
    """FR-020: set the label anew as infrastructure, and @dede is sent all the same."""
    world = building()
    world.send(Unlabeled("d-1", Person("mara"), world.issue(labels=()), "feature"))
    infra = world.issue(labels=("feature:infra",))
    world.send(Labeled("d-2", Person("mara"), infra, "feature:infra"))
    did(world, *[name for name in ("T001", "T002") if states(world)[name] == "running"])
    assert "T003" not in sent(world)


# --- more ---------------------------------------------------------------------------------------


def test_a_merged_feature_is_not_proposed_again_because_its_label_moved() -> None:
    """With `approval: auto` taking the label off and on opens another pull request."""
    world = building(ONE, approval="auto")
    did(world, "T001")
    world.send(PullShown(1, 13))
    world.send(pull_event(world, PullClosed, merged=True))
    world.send(Unlabeled("d-1", Person("mara"), world.issue(labels=()), "feature"))
    world.send(Labeled("d-2", Person("mara"), world.issue(), "feature"))
    assert [one.number for one in world.of(ShowPull)] == []


def test_a_task_that_is_given_to_a_team_can_be_ended_by_its_members() -> None:
    """`/assign` takes `@acme/ops`; then only a push by a login of that name would end it."""
    world = building()
    did(world, "T001", "T002", "T003")
    world.say("/assign T004 @acme/ops")
    assert "confused" in world.reactions() or states(world)["T004"] == "offered"
    if states(world)["T004"] == "offered" and world.tasks["T004"].person:
        push(world, "docs/export.md", message="Task: T004", by="rosa")
        assert states(world)["T004"] == "done"


def test_a_full_disk_is_an_answer_and_not_another_run_of_the_agent() -> None:
    """What `run` lets through, `Drain` tries again without end: each time the model is paid."""
    from app.agents.protocols import NOBODY
    from app.execution.workshop import Workshop

    world = building(ONE)
    wanted = world.of(RunTask)[0]
    shop = object.__new__(Workshop)
    shop._secrets = frozenset()

    async def full(*_: Any) -> Any:
        raise OSError(28, "No space left on device")

    shop._run = full  # type: ignore[method-assign]  # stands in
    event = asyncio.run(shop.run(wanted, AsyncMock(), NOBODY))
    assert event.error


def test_go_on_a_failed_feature_does_not_say_that_documents_are_being_written() -> None:
    world = specified(ONE)
    world.say("/correct Q1 Something else.")
    world.send(EffectFailed(1, "specification", "The specification could not be committed: 403."))
    assert world.feature.state is FeatureState.FAILED
    world.say("/go")
    assert "are being written anew" not in "".join(world.replies())


def test_a_merge_while_documents_are_written_anew_is_told_to_whoever_corrected() -> None:
    """The corrected answer is committed to a merged branch, and nothing says so."""
    world = building(ONE)
    did(world, "T001")
    world.facts = {"planned": planned(ONE)}
    world.say("/correct Q1 Something else.")
    world.send(pull_event(world, PullClosed, merged=True))
    world.committed()
    told = "nothing; the documents and the log stay."
    assert told not in status(world) or world.feature.state is not FeatureState.DONE


def test_a_second_round_does_not_show_the_verdict_of_the_first() -> None:
    world = building(ONE)
    did(world, "T001")
    world.send(reviewed(conclusion="failure"))
    world.send(pull_event(world, PullClosed, merged=True))
    world.facts = {"planned": planned(ONE)}
    world.say("/correct Q1 Something else.")
    world.committed()
    world.say("/go")
    did(world, "T001")
    assert world.feature.state is FeatureState.REVIEW
    assert "must not be merged" not in status(world)


def test_a_task_that_waits_for_people_later_is_told_to_somebody() -> None:
    """The comment of the first one is edited: nobody hears of the second, and all waits."""
    world = building(
        "- [ ] T001 Edit `docs/a.md`\n- [ ] T002 Write `src/b.py`\n- [ ] T003 Edit `docs/c.md`\n"
    )
    push(world, "docs/a.md")
    before = set(world.shown)
    did(world, "T002")
    assert states(world)["T003"] == "offered"
    assert set(world.shown) - before
