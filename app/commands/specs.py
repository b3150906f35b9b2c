"""The table of all commands: what `/help`, the documentation and the parser know of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Who(StrEnum):
    """Who may use a command, in words that end a sentence."""

    ASKED = "whoever was asked, or triage and above"
    AUTHOR = "the issue's author, or triage and above"
    TRIAGE = "triage and above"
    OWNER = "an owner of the path"


class Where(StrEnum):
    ISSUE = "issue"
    PULL = "pull"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """One command as people see it; the example is one that can be sent as it stands."""

    name: str
    usage: str
    example: str
    summary: str
    who: Who
    where: Where = Where.ISSUE
    available: bool = False


SPECS: dict[str, CommandSpec] = {
    spec.name: spec
    for spec in (
        CommandSpec(
            "confirm",
            "/confirm [Q]",
            "/confirm Q3",
            "Accepts the tentative answer to a question.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "correct",
            "/correct [Q] text",
            "/correct Q3 Keep refresh tokens in an HttpOnly cookie.",
            "Gives the right answer in place of the tentative one.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "context",
            "/context [Q] text",
            "/context Q3 Only customers on the paid plan see this page.",
            "Tells the agent what it did not know, and has it answer again.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "chat",
            "/chat [Q]",
            "/chat Q3",
            "Talks with @baron about one question only.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "ask",
            '/ask topic "question"',
            '/ask api.auth "Do sessions outlive a password change?"',
            "Asks a question, which its topic takes to whoever can answer.",
            Who.AUTHOR,
            available=True,
        ),
        CommandSpec(
            "questions",
            "/questions [status|Q]",
            "/questions all",
            "Lists the questions of this feature, or shows one in full.",
            Who.AUTHOR,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "answer",
            "/answer Q text",
            "/answer q-4f9a2c Yes, the field is optional.",
            "Answers a question that waits for a person.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "route",
            "/route Q @agent",
            "/route Q3 @duc",
            "Gives a question to another agent.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "delegate",
            "/delegate Q @person",
            "/delegate Q3 @octocat",
            "Gives a question to another person.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "snooze",
            "/snooze Q 2d",
            "/snooze Q3 2d",
            "Puts a question off for minutes, hours, days or weeks.",
            Who.ASKED,
            available=True,
        ),
        CommandSpec(
            "why",
            "/why Q",
            "/why Q3",
            "Explains how a question was routed and what its answer rests on.",
            Who.AUTHOR,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "retro",
            "/retro [focus]",
            "/retro escalations",
            "Writes the retrospective, if wished about one matter only.",
            Who.TRIAGE,
            Where.BOTH,
        ),
        CommandSpec(
            "learn",
            "/learn list|approve|edit|reject L reason",
            "/learn reject L3 It was true of the old API only.",
            "Lists and decides what the agents are to remember.",
            Who.TRIAGE,
            Where.BOTH,
        ),
        CommandSpec(
            "secretary",
            "/secretary request",
            "/secretary review the login for security issues",
            "Finds the agent who can do what is asked for, and proposes it.",
            Who.TRIAGE,
            Where.BOTH,
        ),
        CommandSpec("plan", "/plan", "/plan", "Shows the plan.", Who.TRIAGE, available=True),
        CommandSpec(
            "tasks",
            "/tasks",
            "/tasks",
            "Shows the tasks, and who would do each.",
            Who.TRIAGE,
            Where.BOTH,
            available=True,
        ),
        CommandSpec("go", "/go", "/go", "Has the tasks done.", Who.TRIAGE, available=True),
        CommandSpec(
            "assign",
            "/assign T @person",
            "/assign T012 @octocat",
            "Gives a task to a person, or to another agent.",
            Who.TRIAGE,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "allow",
            "/allow path reason",
            "/allow docs/api.md The new field is described there.",
            "Lets this commit change a path outside of a scope.",
            Who.OWNER,
            Where.PULL,
            available=True,
        ),
        CommandSpec(
            "review",
            "/review",
            "/review",
            "Has @degaulle look at the pull request again.",
            Who.TRIAGE,
            Where.PULL,
            available=True,
        ),
        CommandSpec(
            "apply",
            "/apply R",
            "/apply R2",
            "Carries out a recommendation of the retrospective.",
            Who.TRIAGE,
            Where.BOTH,
        ),
        CommandSpec(
            "status",
            "/status",
            "/status",
            "Says where the feature stands and what it waits for.",
            Who.AUTHOR,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "config",
            "/config",
            "/config",
            "Shows the configuration in force and where each part comes from.",
            Who.AUTHOR,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "pause",
            "/pause",
            "/pause",
            "Stops asking and building for now.",
            Who.TRIAGE,
            available=True,
        ),
        CommandSpec(
            "resume", "/resume", "/resume", "Goes on after a pause.", Who.TRIAGE, available=True
        ),
        CommandSpec(
            "stop",
            "/stop [Q|T]",
            "/stop T012",
            "Gives up a question or a task, or without one the feature.",
            Who.TRIAGE,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "retry",
            "/retry [Q|T]",
            "/retry T012",
            "Tries a question or a task again, or without one what failed last.",
            Who.TRIAGE,
            Where.BOTH,
            available=True,
        ),
        CommandSpec(
            "help",
            "/help",
            "/help",
            "Lists the commands and who may use them.",
            Who.AUTHOR,
            Where.BOTH,
            available=True,
        ),
    )
}
