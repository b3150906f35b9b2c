"""What is there at the start: an organisation, four people, a repository, two feature requests."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

from app.playground.box import Box
from app.playground.state import Installation, Issue, Label, Org, Repo, Role, Team, User

ORG, REPO = "acme", "storefront"
PEOPLE = {
    "ada": ("Ada (owner)", "admin"),
    "mara": ("Mara (maintainer)", "maintain"),
    "ravi": ("Ravi (reader)", "read"),
    "sol": ("Sol (stranger)", None),
}
LABELS = {
    "feature": ("0e8a16", "Starts a feature: the project manager takes it from here"),
    "feature:backend": ("1d76db", "A feature of the backend"),
    "feature:infra": ("5319e7", "A feature of the infrastructure"),
    "feature:capacity": ("fbca04", "More capacity"),
    "feature:config": ("c5def5", "A change of configuration"),
    "baron:asking": ("d4c5f9", "Questions are being answered"),
    "baron:waiting": ("f9d0c4", "Waits for a person"),
    "baron:building": ("bfdadc", "Agents write it"),
    "baron:review": ("c2e0c6", "A pull request is open"),
    "baron:done": ("0e8a16", "Finished"),
    "baron:paused": ("e4e669", "Stopped by a person"),
    "bug": ("d73a4a", "Something is not working"),
    "good first issue": ("7057ff", "Good for newcomers"),
}


def fill(box: Box) -> None:
    """Make the Apps' bots, and the sample if it is wanted. Blocking."""
    world = box.world
    for app in box.config.apps:
        world.users[app.bot] = User(world.new_id(), app.bot, app.slug, "Bot")
    if not box.config.seed:
        return
    _people(box)
    folder = resources.files("app.playground") / "sample"
    repo = _repository(box, folder)
    mara = world.users["mara"]
    for name in ("issue-1.md", "issue-2.md"):
        title, _, body = (folder / name).read_text(encoding="utf-8").partition("\n")
        number = repo.next_number
        issue = Issue(world.new_id(), number, mara, title.removeprefix("# "), body.strip())
        repo.issues[number] = issue
        repo.next_number += 1


def install(box: Box, app_id: str) -> Installation:
    """Put an App on the organisation; one that is there stays."""
    world = box.world
    found = world.installation_of(ORG, app_id) or Installation(world.new_id(), ORG, app_id)
    world.installations[found.id] = found
    return found


def _people(box: Box) -> None:
    world = box.world
    for login, (name, _) in PEOPLE.items():
        world.users[login] = User(world.new_id(), login, name)
    org = Org(world.new_id(), ORG, "Acme", members={"ada": "admin", "mara": "member"})
    org.teams["storefront-team"] = Team(
        world.new_id(), "storefront-team", "Storefront team", "Owns the shop", ["ada", "mara"]
    )
    world.orgs[ORG] = org
    for app in box.config.apps:
        install(box, app.id)


def _repository(box: Box, folder: Traversable) -> Repo:
    repo = box.new_repo(ORG, REPO, description="A small web shop: catalogue, cart, orders")
    repo.collaborators = {
        login: Role(role) for login, (_, role) in PEOPLE.items() if role is not None
    }
    for name, (color, text) in LABELS.items():
        repo.labels[name] = Label(box.world.new_id(), name, color, text)
    first_commit(box, repo, _files(folder / "project"))
    return repo


def _files(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    """The sample project. A name that ends in `.txt` after another ending is stored without it."""
    found: dict[str, bytes] = {}
    for item in folder.iterdir():
        if item.is_dir():
            found |= _files(item, f"{prefix}{item.name}/")
        elif not item.name.endswith(".pyc"):
            name = item.name.removesuffix(".txt") if item.name.count(".") > 1 else item.name
            found[prefix + name] = item.read_bytes()
    return found


def first_commit(box: Box, repo: Repo, files: dict[str, bytes]) -> None:
    """Put files on the default branch of an empty repository. Blocking."""
    author = "ada <0+ada@users.example.invalid>"
    box.git(repo).start(repo.default_branch, files, author, "Start the project\n")
