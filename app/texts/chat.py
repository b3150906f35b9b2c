"""What @baron says in a conversation about one question."""

from __future__ import annotations

from app.features.model import Feature, Question
from app.questions.model import Answer
from app.texts.marker import marker
from app.texts.question import LIMIT, persona, sources
from app.texts.safe import harmless


def opened(question: Question) -> str:
    """The conversation is open; how to talk, and how to end."""
    return (
        f"💬 Let us talk about {question.name}: what you write here without a command is for"
        f" me, until `/confirm {question.name}`, `/correct {question.name} <the answer>` or"
        " `/stop` ends it."
    )


def nobody_to_talk_to(question: Question) -> str:
    return f"no agent can talk about {question.name} here. Answer with `/correct {question.name} …`"


def said_enough(question: Question, most: int) -> str:
    name = question.name
    return f"{most} turns about {name} are enough. Settle it with `/correct {name} …`."


def chat_reply(
    feature: Feature, question: Question, answer: Answer | None, *, takes: bool, key: str
) -> str:
    """One turn of @baron's."""
    first = marker("reply", key, feature=str(feature.place), question=question.name)
    if answer is None:
        body = [f"**@baron** on {question.name}: nobody could answer that just now; say it again?"]
        return "\n\n".join([first, *body])[:LIMIT]
    lines = [f"**@baron** on {question.name}; {persona(answer.agent)} says"
             f" ({answer.confidence} % sure):", ""]  # fmt: skip
    lines += [f"> {line}" for line in harmless(answer.content, 6000).splitlines() or ["—"]]
    lines += ["", *sources(answer)]
    name = question.name
    if takes:
        lines.append(f"`/confirm {name}` takes this; or go on talking.")
    else:
        lines.append(f"`/correct {name} …` says it in your words; or go on talking.")
    return "\n".join([first, *lines])[:LIMIT]
