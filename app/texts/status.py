"""The status comment: one for each feature, edited in place."""

from __future__ import annotations

from collections.abc import Sequence

from app.features.dispatch import ExecutionTask
from app.features.model import SPECIFIED, Feature, FeatureState, Question
from app.questions.model import QuestionState
from app.texts.marker import marker
from app.texts.question import LIMIT, cost_line, persona, routing_line, sources
from app.texts.safe import cell, harmless, one_line
from app.texts.tasks import building_next, review_next, stopped_lines, task_list

_ICONS = {
    QuestionState.PENDING: "⚪",
    QuestionState.ASKING: "⏳",
    QuestionState.ANSWERED: "⏳",
    QuestionState.ACCEPTED: "✅",
    QuestionState.ESCALATED: "🙋",
    QuestionState.CONFIRMED: "✅",
    QuestionState.CORRECTED: "✅",
    QuestionState.DEFERRED: "💤",
    QuestionState.TIMEOUT: "⌛",
    QuestionState.CANCELLED: "✖️",
}


def status_comment(
    feature: Feature,
    questions: Sequence[Question],
    tasks: Sequence[ExecutionTask] = (),
    *,
    key: str,
) -> str:
    """The feature at a glance: headline, questions, tasks, what comes next, the answers folded."""
    first = marker("status", key, feature=str(feature.place))
    parts = [first, f"**@baron** · project manager — {headline(feature, questions)}", ""]
    if feature.approved_by or feature.state is FeatureState.DONE:
        parts += task_list(feature, tasks)
        parts += [f"**Next:** {_next(feature, questions, tasks)}", ""]
        parts += _folded_table(questions)
    else:
        parts += _table(questions)
        parts += task_list(feature, tasks)
        parts += [f"**Next:** {_next(feature, questions, tasks)}", ""]
    parts += stopped_lines(tasks)
    parts += _money(feature, questions)
    parts += _routes(questions)
    parts += _answers(questions)
    if feature.cost.calls:
        parts += [f"<sub>Models so far: {cost_line(feature.cost)}.</sub>", ""]
    parts += [
        "<sub>This comment is kept up to date. `/help` shows the commands; "
        f"to stop, take the label `{feature.spec.label}` off.</sub>"
    ]
    return "\n".join(parts)[:LIMIT]


def headline(feature: Feature, questions: Sequence[Question]) -> str:
    """One sentence on where the feature stands."""
    waiting = sum(question.waits_for_a_person for question in questions)
    settled = sum(question.settled for question in questions)
    match feature.state:
        case FeatureState.NEW | FeatureState.SPECIFYING:
            return f"reading this {feature.spec.title} request for what it leaves open."
        case FeatureState.ASKING:
            return f"asking; {settled} of {len(questions)} questions are settled."
        case FeatureState.WAITING:
            people = "an answer from a person" if waiting == 1 else f"{waiting} answers from people"
            return f"waiting for {people}; {settled} of {len(questions)} questions are settled."
        case FeatureState.WRITING:
            return "everything is settled; writing the specification."
        case FeatureState.PLANNED:
            return f"the specification is written, from {settled} settled questions."
        case FeatureState.BUILDING:
            return "the tasks are being done."
        case FeatureState.REVIEW:
            return "all tasks are done; the pull request waits to be merged."
        case FeatureState.DONE:
            return "done: the pull request was merged."
        case FeatureState.STOPPED:
            return f"paused: {feature.stopped_because}."
        case FeatureState.GONE:
            return "ended."
        case FeatureState.FAILED:
            return "stuck, and a person has to look at it."


def _table(questions: Sequence[Question]) -> list[str]:
    if not questions:
        return []
    rows = [
        f"| {_ICONS[question.state]} {question.name} | {cell(one_line(question.text, 160))}"
        f" | {_who(question)} | {_how(question)} |"
        for question in questions
    ]
    return ["| | Question | Who | |", "|---|---|---|---|", *rows, ""]


def _folded_table(questions: Sequence[Question]) -> list[str]:
    """Once tasks are being done, the questions are history."""
    if not questions:
        return []
    if any(not question.ended for question in questions):
        return _table(questions)
    head = f"<details><summary>The {len(questions)} questions</summary>"
    return [head, "", *_table(questions), "</details>", ""]


def _who(question: Question) -> str:
    if question.settled:
        source = question.source
        return f"**{source}**" if question.validated_by is None else source.lstrip("@")
    if question.waits_for_a_person or question.state is QuestionState.DEFERRED:
        return f"{question.asked}"
    if question.routed and question.routed.agent:
        return f"**{question.routed.agent}**"
    return "—"


def _how(question: Question) -> str:
    match question.state:
        case QuestionState.ACCEPTED if question.warning:
            return "used with a warning: nobody looked at it in time"
        case QuestionState.ACCEPTED if question.tentative:
            return f"{question.tentative.confidence} % sure, accepted"
        case QuestionState.CONFIRMED:
            return f"confirmed by {question.settled_by}"
        case QuestionState.CORRECTED:
            return f"answered by {question.settled_by}"
        case QuestionState.ESCALATED:
            return f"asked: {cell(one_line(question.note, 120))}"
        case QuestionState.TIMEOUT:
            return f"nobody answered in time: {cell(one_line(question.note, 120))}"
        case QuestionState.DEFERRED:
            return f"later; {question.asked} has enough to answer"
        case QuestionState.CANCELLED:
            return cell(one_line(question.note, 120)) or "given up"
        case QuestionState.PENDING:
            after = ", ".join(f"Q{number}" for number in question.depends_on)
            return f"after {after}" if after else "not asked yet"
        case _:
            return question.state.value


def _next(feature: Feature, questions: Sequence[Question], tasks: Sequence[ExecutionTask]) -> str:
    match feature.state:
        case FeatureState.NEW | FeatureState.SPECIFYING:
            return "the questions appear here within seconds."
        case FeatureState.ASKING:
            return "answers that are not sure enough come back as a question to a person."
        case FeatureState.WAITING:
            names = ", ".join(q.name for q in questions if q.waits_for_a_person)
            return f"answer {names} with `/confirm`, `/correct` or `/context`, in this thread."
        case FeatureState.WRITING:
            return f"`{feature.folder}/spec.md` on branch `{feature.branch}`."
        case FeatureState.PLANNED:
            return (
                f"read `{feature.folder}/spec.md`, with `plan.md` and `tasks.md` beside it, on"
                f" branch `{feature.branch}` (commit {feature.commit[:10]}), then say `/go` to have"
                " the tasks done. `/correct Q…` still changes an answer, and the documents with it."
            )
        case FeatureState.BUILDING:
            return building_next(feature, tasks)
        case FeatureState.REVIEW:
            return review_next(feature)
        case FeatureState.DONE:
            return "nothing; the documents and the log stay."
        case FeatureState.STOPPED:
            return "undo that, and it goes on where it was."
        case FeatureState.GONE:
            return "nothing."
        case FeatureState.FAILED:
            label = feature.spec.label
            problem = harmless(one_line(feature.problem, 500), 600)
            return f"{problem} Then take the label `{label}` off and set it again."


def _money(feature: Feature, questions: Sequence[Question]) -> list[str]:
    """A budget that is used up, or nearly; what models cost otherwise is folded."""
    lines: list[str] = []
    unpaid = ", ".join(q.name for q in questions if q.unpaid and q.waits_for_a_person)
    if feature.unwritten and feature.state in SPECIFIED:
        lines.append(
            f"📝 The model did not write all documents ({harmless(feature.unwritten, 300)}), so"
            " some are drafts made by machine; `/retry` has it write them again."
        )
    if feature.unpaid and unpaid:
        lines.append(
            f"⛔ Models are not asked any more about {unpaid}: {harmless(feature.unpaid, 400)}."
            " People are asked instead; `/retry` asks the models again once that has changed."
        )
    elif feature.near:
        lines += [f"💰 {harmless(line, 300)}." for line in feature.near]
    return [*lines, ""] if lines else []


def _routes(questions: Sequence[Question]) -> list[str]:
    """One line for each routing: to whom, by which rule, who is next."""
    lines = [f"- {question.name}: {routing_line(question)}" for question in questions]
    lines = [line for question, line in zip(questions, lines, strict=True) if question.routed]
    if not lines:
        return []
    return ["<details><summary>Who was asked, and by which rule</summary>", "", *lines, "",
            "</details>", ""]  # fmt: skip


def _answers(questions: Sequence[Question]) -> list[str]:
    settled = [question for question in questions if question.settled]
    if not settled:
        return []
    count = "The settled answer" if len(settled) == 1 else f"The {len(settled)} settled answers"
    lines = [f"<details><summary>{count}, with sources</summary>", ""]
    for question in settled:
        lines += [f"**{question.name} · {harmless(one_line(question.text, 300), 400)}**", ""]
        lines += [f"> {line}" for line in harmless(question.answer, 2500).splitlines() or ["—"]]
        lines += ["", f"— {_signature(question)}", ""]
        if question.tentative and question.validated_by is None:
            lines += sources(question.tentative)
    return [*lines, "</details>", ""]


def _signature(question: Question) -> str:
    if question.validated_by is None:
        return persona(question.source)
    if question.state is QuestionState.CONFIRMED:
        return f"{persona(question.source)}, confirmed by {question.settled_by}"
    return question.settled_by
