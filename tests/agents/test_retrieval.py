"""The offline agents: the right passage, cited, with a confidence that means something."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from app.agents.building import build_team
from app.agents.handbook import Flaw, Handbook, Passage, load_handbook, parse
from app.agents.meter import BudgetMeter, MemoryLedger
from app.agents.prices import Prices
from app.agents.protocols import NOBODY, Account, AgentUnavailable, Generated
from app.agents.retrieval import RetrievalBackend
from app.agents.team import Member, Parts, Team
from app.config.shipped import shipped_folder
from app.embeddings import EmbeddingModelError, MiniLM, verify_model
from app.features.types import FeatureRequest, FeatureType
from app.questions.caps import NO_CAPS
from app.questions.model import Answer, Choice, Inquiry
from app.settings import Settings

MODEL = MiniLM()
BOOKS = {
    role: load_handbook(role, shipped_folder() / "agents" / role / "handbook")
    for role in ("architect", "product")
}
BACKEND = RetrievalBackend(BOOKS, MODEL.embed)

KNOWN = [
    ("architect", "Where do we store refresh tokens in the browser?", "authentication"),
    ("architect", "Which algorithm should hash the passwords?", "authentication"),
    ("architect", "How long should a login session last?", "authentication"),
    ("architect", "What do we do after several failed login attempts?", "authentication"),
    ("architect", "Which rate limiting algorithm should the API use?", "api-design"),
    ("architect", "How should webhooks be signed?", "api-design"),
    ("architect", "How should lists in the API be paginated?", "api-design"),
    ("architect", "Which file format should an export have?", "files-and-exports"),
    ("architect", "Should an export run in the background?", "files-and-exports"),
    ("architect", "How large may an uploaded file be?", "files-and-exports"),
    ("architect", "How should uploads be scanned for viruses?", "files-and-exports"),
    ("architect", "Do we need a search engine, or is the database enough?", "search-and-caching"),
    ("architect", "How should the cache be invalidated?", "search-and-caching"),
    ("architect", "Which resource requests and limits should a pod have?", "infrastructure"),
    ("architect", "Which readiness and liveness probes do we need?", "infrastructure"),
    ("architect", "Should Argo CD sync automatically?", "infrastructure"),
    ("architect", "How often should a failed job be retried?", "async-and-queues"),
    ("architect", "How do we migrate a database table without downtime?", "data-and-storage"),
    ("architect", "How should amounts of money be stored?", "data-and-storage"),
    ("product", "Which export formats should we offer?", "exports-and-reports"),
    ("product", "Should the first version support mobile?", "scope"),
    ("product", "How often should notifications be sent?", "notifications"),
    ("product", "What should an empty list show?", "flows"),
    ("product", "Should deleting something ask for confirmation?", "flows"),
    ("product", "Should the feature be behind a flag at first?", "rollout"),
]
UNKNOWN = [
    ("architect", "What is our budget for this quarter?"),
    ("architect", "Who approves the contract with the supplier?"),
    ("architect", "What is the capital of Peru?"),
    ("architect", "Which colour should the logo have?"),
    ("architect", "How many chairs are in the meeting room?"),
    ("architect", "When is the company party?"),
    ("architect", "How much may it cost each month?"),
    ("product", "What did the customer say in the call on Tuesday?"),
    ("product", "Which wine goes with fish?"),
    ("product", "Who owns the budget for marketing?"),
    ("product", "How old is the founder?"),
    ("product", "Which bus goes to the office?"),
]


def ask(role: str, text: str, **more: object) -> Answer:
    return asyncio.run(BACKEND.ask(Inquiry(role, "architecture.x", text, **more)))


def test_handbooks_are_worth_reading() -> None:
    for book in BOOKS.values():
        assert book.flaws == ()
        assert len(book.passages) >= 100
        assert len({passage.ref for passage in book.passages}) == len(book.passages)
        for passage in book.passages:
            assert passage.keywords, passage.ref
            assert passage.recommendation.endswith("."), passage.ref


def test_known_questions_find_their_passage_and_are_sure() -> None:
    right = 0
    for role, text, file in KNOWN:
        answer = ask(role, text)
        right += answer.confidence >= 80 and f"/{file}" in answer.sources[0].ref
    assert right >= 0.85 * len(KNOWN), right


def test_unknown_questions_are_not_answered_with_confidence() -> None:
    unsure = [ask(role, text).confidence < 60 for role, text in UNKNOWN]
    assert sum(unsure) >= 0.95 * len(UNKNOWN), unsure


def test_answer_cites_what_exists_and_says_why_it_is_unsure() -> None:
    refs = {passage.ref for passage in BOOKS["architect"].passages}
    for _, text, _ in KNOWN[:5]:
        answer = ask("architect", text)
        assert {source.ref for source in answer.sources} <= refs
        assert answer.sources[0].quote in answer.content
        assert answer.looked_in
        assert answer.backend == "retrieval"
    unsure = ask("architect", "What is the capital of Peru?")
    assert unsure.uncertainty_reasons


def test_option_that_the_passage_supports_is_named() -> None:
    choices = (
        Choice("A", "In localStorage", "Simple."),
        Choice("B", "In an HttpOnly cookie", "Scripts cannot read it."),
    )
    answer = ask("architect", "Where do we store refresh tokens in the browser?", choices=choices)
    assert answer.content.startswith("B: ")


def test_added_context_counts() -> None:
    choices = (
        Choice("A", "Everybody", "All customers."),
        Choice("B", "Only administrators", "Few."),
    )
    question = "Who may start the yearly stocktaking?"
    before = ask("product", question, choices=choices)
    told = ("Only administrators of an account may start it.",)
    after = ask("product", question, choices=choices, added_context=told)
    assert after.content.startswith("B: ")
    assert after.confidence >= before.confidence
    assert "Only administrators of an account" in after.rationale


def test_a_megabyte_of_context_is_bounded() -> None:
    answer = ask("architect", "Where are tokens stored?", added_context=("x " * 500_000,))
    assert len(answer.rationale) < 2000


def test_role_without_a_handbook_is_unavailable() -> None:
    with pytest.raises(AgentUnavailable, match="no handbook"):
        ask("devops", "?")


def test_handbook_form() -> None:
    text = (
        "---\ntitle: T\ntopics: [a, b]\n---\n\n## S\n\n### Why?\n\n**Because.** More.\n"
        "Unless: not.\nKeywords: x, y\n\n### Broken?\n\nNo bold.\n"
    )
    passage, flaw = parse(text, "r/f.md")
    assert passage == Passage(
        "T", ("a", "b"), "Why?", "Because.", "Because. More.", ("x", "y"), "not.", "r/f.md#why"
    )
    assert flaw == Flaw("r/f.md", 14, "“Broken?” does not begin with its recommendation in bold")
    assert load_handbook("x", Path("no/such/folder")) == Handbook("x", ())


class Slow:
    async def ask(self, inquiry: Inquiry, account: Account = NOBODY, seconds: float = 0) -> Answer:
        await asyncio.sleep(5)
        raise AssertionError


class Nobody:
    async def generate(
        self, request: FeatureRequest, limit: int, account: Account = NOBODY
    ) -> Generated:
        return Generated((), "nobody")


@pytest.mark.parametrize(
    ("role", "reason"),
    [("slow", "no answer within 0.01 seconds"), ("none", "no backend"), ("x", "nobody is x")],
)
def test_every_way_of_failing_is_unavailable(role: str, reason: str) -> None:
    members = {"slow": Member("slow", Slow(), 0.01), "none": Member("none", None, 1, "claude")}
    team = Team(members, Parts(Nobody()))
    with pytest.raises(AgentUnavailable, match=reason):
        asyncio.run(team.ask(Inquiry(role, "x", "?")))


def test_shipped_team_answers_for_roles_and_aliases() -> None:
    prices = BudgetMeter(MemoryLedger(), lambda repo: NO_CAPS, Prices)
    team = build_team(Settings(), prices)
    answer = asyncio.run(
        team.ask(Inquiry("security-reviewer", "security.x", "How are webhooks signed?"))
    )
    assert answer.sources[0].ref.startswith("architect/")
    found = asyncio.run(team.generate(FeatureRequest("A", "b", FeatureType.FULL_STACK), 2))
    assert len(found.drafts) == 2
    assert found.generator == "checklist"


def test_model_is_verified(tmp_path: Path) -> None:
    assert "384" in verify_model(Settings())
    with pytest.raises(EmbeddingModelError, match="is missing"):
        MiniLM(str(tmp_path)).embed(["x"])
    assert MODEL.embed([]).shape == (0, 384)
    vectors = MODEL.embed(["a", "b", "a"])
    assert vectors.shape == (3, 384)
    assert (vectors[0] == vectors[2]).all()


def test_vectors_are_kept_for_the_next_start(tmp_path: Path) -> None:
    first = MiniLM()
    vector = first.embed(["kept"])
    first.keep(tmp_path)
    (file,) = tmp_path.iterdir()
    second = MiniLM()
    second.recall(tmp_path)
    second._run = None  # type: ignore[assignment]  # it has nothing to compute
    assert (second.embed(["kept"]) == vector).all()
    file.write_bytes(b"broken")
    MiniLM().recall(tmp_path)
    MiniLM().recall(tmp_path / "missing")
    first.keep(tmp_path / "missing")
