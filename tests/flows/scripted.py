"""A town whose agents say what a test wrote; everything else in it is real.

Retrieval cannot be told to be 92 % sure. So here the process of the agents is one of the tests:
the same loop, the same time limits, the same database, and a backend that reads its answers from
a file. `python -m tests.flows.scripted` is that process.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import httpx

from app.agents.protocols import NOBODY, Account, Generated
from app.agents.team import Member, Parts, Team
from app.deps import build_deps
from app.embedded.servers import Servers
from app.features.types import FeatureRequest
from app.questions.durations import duration
from app.questions.model import Answer, Choice, Draft, Inquiry, Source
from app.queue import AGENTS
from app.settings import Settings
from app.store import log
from tests.recovery.town import REPO, Town, until

SURE = 92
UNPINGED = "@&#8203;"
"""How a name is written that nobody is to be called by."""
CONTENT = "B: Two tables. Keep what changes apart from what does not."


def said(confidence: int = SURE, content: str = CONTENT, **more: Any) -> dict[str, Any]:
    """An agent's answer. Also `reasons`, `seconds` it takes, `error` instead, `meet` so many."""
    return {"confidence": confidence, "content": content, **more}


def question(
    topic: str, target: str | None = None, *answers: dict[str, Any], **more: Any
) -> dict[str, Any]:
    """What @baron asks, and what whoever is asked says: one answer for each time of asking."""
    return {
        "topic": topic,
        "target": target,
        "answers": list(answers),
        "text": f"What about {topic}?",
        "why": "It decides the schema.",
        "context": f"The issue says of {topic}: “as a file”.",
        "choices": [["A", "One table", "Simple."], ["B", "Two tables", "Clean."]],
        "recommended": "B",
        **more,
    }


class Script:
    """Generator and backend: the questions and answers of the issue with that title."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._times: Counter[tuple[str, str]] = Counter()
        self._meetings: dict[int, asyncio.Barrier] = {}

    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        return Generated(tuple(_draft(one) for one in self._questions(request.title)), "script")

    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        with (self._folder / "asked.jsonl").open("a") as file:
            file.write(json.dumps(asdict(inquiry)) + "\n")
        now = self._next(inquiry)
        if parties := now.get("meet"):
            await self._meetings.setdefault(parties, asyncio.Barrier(parties)).wait()
        await asyncio.sleep(now.get("seconds", 0))
        if error := now.get("error"):
            raise RuntimeError(error)
        return Answer(
            content=now["content"],
            rationale=f"The handbook says so of {inquiry.topic}.",
            confidence=now["confidence"],
            uncertainty_reasons=tuple(now.get("reasons", ())),
            sources=(Source("Data modelling", "architect/data.md#tables", "Keep them apart."),),
            backend="script",
        )

    def _next(self, inquiry: Inquiry) -> dict[str, Any]:
        """The nth answer for the nth time this topic is asked about; the last one from then on."""
        key = (inquiry.feature_title, inquiry.topic)
        time, self._times[key] = self._times[key], self._times[key] + 1
        questions = self._questions(inquiry.feature_title)
        answers: list[dict[str, Any]] = next(
            (q["answers"] for q in questions if q["topic"] == inquiry.topic), []
        )
        return dict(answers[min(time, len(answers) - 1)]) if answers else said()

    def _questions(self, title: str) -> list[dict[str, Any]]:
        path = self._folder / f"{title}.json"
        found: list[dict[str, Any]] = json.loads(path.read_text()) if path.exists() else []
        return found


def _draft(one: dict[str, Any]) -> Draft:
    fields = {name: value for name, value in one.items() if name != "answers"}
    fields["choices"] = tuple(Choice(*choice) for choice in fields["choices"])
    fields["depends_on"] = tuple(fields.get("depends_on", ()))
    return Draft(**fields)


class ScriptedTown(Town):
    """Its own process takes the place of the agents'."""

    _agents: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ScriptedTown:
        self.without = ("agents",)
        super().__enter__()
        (self.folder / "script").mkdir()
        database_url, redis_url = Servers(self.folder).find()
        self._agents = subprocess.Popen(
            [sys.executable, "-m", "tests.flows.scripted"],
            env={
                **os.environ,
                **self.env,
                "KR_DATA_DIR": str(self.folder),
                "KR_DATABASE_URL": database_url or "",
                "KR_REDIS_URL": redis_url or "",
            },
        )
        try:
            until(self._agents_are_here, 60, "the scripted agents are not there")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _agents_are_here(self) -> bool:
        return 'kr_workers{kind="agents"} ' in httpx.get(f"{self.service}/metrics").text

    def __exit__(self, *about: object) -> None:
        if self._agents is not None:
            self._agents.kill()
            self._agents.wait()
        super().__exit__(*about)


@dataclass
class Play:
    """One issue of a test's own: its title is the test's name."""

    town: ScriptedTown
    title: str
    number: int = 0

    def begin(self, *questions: dict[str, Any], label: str | None = "feature") -> Play:
        """Write what will be asked and answered, and open the issue."""
        script = self.town.folder / "script"
        (script / f"{self.title}.json").write_text(json.dumps(questions))
        body = "Customers want it. See src/storefront/orders.py."
        mara = self.town.client.as_user("mara")
        self.number = int(mara.open_issue(REPO, self.title, body)["number"])
        if label:
            mara.label(REPO, self.number, label)
        return self

    def asked(self) -> list[dict[str, Any]]:
        """What the agents were given, in turn."""
        path = self.town.folder / "script" / "asked.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [one for one in map(json.loads, lines) if one["feature_title"] == self.title]

    def entries(self, kind: str = "", name: str = "") -> list[log.Entry]:
        """The feature's log, or what is of one kind or about one question."""
        answer = httpx.get(f"{self.town.service}/api/features/{REPO}/{self.number}/log").json()
        entries = [log.Entry(**entry) for entry in answer.get("entries", [])]
        return [
            entry
            for entry in entries
            if kind in {"", entry.kind} and name in {"", entry.question or ""}
        ]

    def entry(self, kind: str, name: str = "Q1", times: int = 1) -> log.Entry:
        """The entry of that kind, once there are so many."""
        what = f"no {kind} for {name} in the log"
        until(lambda: len(self.entries(kind, name)) >= times, 20, what)
        return self.entries(kind, name)[times - 1]

    def comment(self, *words: str, name: str = "Q1") -> dict[str, Any]:
        """The comment of a question, once all these words stand in it."""

        def found() -> dict[str, Any] | None:
            for fields in self.town.ours(self.number):
                body = fields["comment"]["body"].replace(UNPINGED, "@")
                is_it = fields["kind"] == "question" and fields.get("question") == name
                if is_it and all(word in body for word in words):
                    return {**fields["comment"], "body": body}
            return None

        comment: dict[str, Any] = until(found, 20, f"no comment of {name} says {words}")
        return comment

    def say(self, body: str, by: str = "mara", wait: str = "+1") -> dict[str, Any]:
        """Comment, and wait for the bot's verdict on it."""
        comment = self.town.client.as_user(by).comment(REPO, self.number, body)
        until(lambda: wait in self.reactions(comment), 15, f"{body!r} has no {wait}")
        return comment

    def reactions(self, comment: dict[str, Any]) -> set[str]:
        return {one["content"] for one in self.town.client.reactions(comment["id"])}

    def reply(self, *words: str) -> str:
        """A reply of the bot's, once there is one with all these words."""

        def found() -> str:
            for fields in self.town.ours(self.number):
                body = str(fields["comment"]["body"])
                if fields["kind"] == "reply" and all(word in body for word in words):
                    return body
            return ""

        return str(until(found, 15, f"no reply says {words}"))

    def specification(self) -> str:
        """What was committed, once everything is settled."""
        until(lambda: self.town.done(self.number), 25, "the feature is not done")
        branch = next(
            one for one in self.town.client.branches(REPO) if one.startswith(f"{self.number:03d}-")
        )
        self.town.nothing_twice(self.number)
        return self.town.client.file(REPO, f"specs/{branch}/spec.md", branch)


def main() -> None:
    """The agents' process."""
    from workers.__main__ import _carry
    from workers.agents import Agents

    deps = build_deps(Settings())
    config = deps.policies.server_config()
    script = Script(deps.settings.data_dir / "script")
    members: dict[str, Member] = {}
    for name, role in config.agents.roles.items():
        if role.kind == "knowledge":
            member = Member(name, script, duration(role.timeout).total_seconds())
            members |= dict.fromkeys((name, *role.aliases), member)
    _carry(AGENTS, deps, Agents(deps, Team(members, Parts(script))))


if __name__ == "__main__":
    main()
