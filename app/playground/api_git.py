"""REST: the Git database: references, commits, trees, blobs."""

from __future__ import annotations

import base64
import binascii
import time
from datetime import datetime

from starlette.responses import Response
from starlette.routing import Route

from app.playground.box import Actor, in_thread
from app.playground.calls import Call, api
from app.playground.errors import ApiError, invalid, not_found
from app.playground.git import ZERO, Entry, Git, GitError
from app.playground.refs import moved
from app.playground.responses_git import GitResponses
from app.playground.state import Json, Repo

ROOT = "/repos/{owner}/{repo}"
GIT = ROOT + "/git"


def repo_of(call: Call, need: str = "read") -> tuple[Repo, Git, GitResponses]:
    """The repository of the path, its objects, and what makes their JSON."""
    repo = call.repo(need)
    return repo, call.box.git(repo), GitResponses(call.box, repo)


def _seen(repo: Repo, name: str) -> bool:
    """Whether readers can see this reference by now."""
    return repo.hidden_refs.get(name, 0.0) <= time.monotonic()


async def resolve(repo: Repo, git: Git, name: str) -> str:
    """The commit a name stands for, or 404."""
    sha = await in_thread(git.resolve, name)
    if sha is None or not _seen(repo, f"refs/heads/{name}"):
        raise ApiError(404, f"No commit found for SHA: {name}")
    return sha


# references


async def get_ref(call: Call) -> Response:
    repo, git, show = repo_of(call)
    name = f"refs/{call.part('ref')}"
    sha = await in_thread(git.ref, name)
    if sha is None or not _seen(repo, name):
        raise not_found()
    return call.reply(show.ref(name, sha))


async def matching_refs(call: Call) -> Response:
    repo, git, show = repo_of(call)
    found = await in_thread(git.refs, f"refs/{call.part('ref')}")
    pairs = [pair for pair in sorted(found.items()) if _seen(repo, pair[0])]
    return call.listed(pairs, lambda pair: show.ref(*pair))


async def create_ref(call: Call) -> Response:
    (repo, git, show), data = repo_of(call, "write"), await call.json()
    name, sha = str(data.get("ref") or ""), str(data.get("sha") or "")
    if not name.startswith("refs/") or name.count("/") < 2 or not git.valid_ref(name):
        raise ApiError(422, "Reference name must start with 'refs/' and have at least two slashes.")
    if await in_thread(git.kind, sha) is None:
        raise ApiError(422, "Object does not exist")
    if not await in_thread(git.set_ref, name, sha, ZERO):
        raise ApiError(422, "Reference already exists")
    await moved(call.box, call.actor, repo, name, ZERO, sha)
    return call.reply(show.ref(name, sha), 201)


async def update_ref(call: Call) -> Response:
    (repo, git, show), data = repo_of(call, "write"), await call.json()
    name, sha = f"refs/{call.part('ref')}", str(data.get("sha") or "")
    old = await in_thread(git.ref, name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if await in_thread(git.kind, sha) != "commit":
        raise ApiError(422, "Object does not exist")
    if not data.get("force") and not await in_thread(git.is_ancestor, old, sha):
        raise ApiError(422, "Update is not a fast forward")
    if not await in_thread(git.set_ref, name, sha, old):
        raise ApiError(409, "Reference cannot be updated")
    await moved(call.box, call.actor, repo, name, old, sha)
    return call.reply(show.ref(name, sha))


async def delete_ref(call: Call) -> Response:
    repo, git, _ = repo_of(call, "write")
    name = f"refs/{call.part('ref')}"
    old = await in_thread(git.ref, name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    await in_thread(git.drop_ref, name, old)
    await moved(call.box, call.actor, repo, name, old, ZERO)
    return Response(status_code=204)


# commits


async def get_commit_object(call: Call) -> Response:
    _, git, show = repo_of(call)
    sha = call.part("sha")
    if await in_thread(git.kind, sha) != "commit":
        raise not_found()
    return call.reply(show.git_commit(await in_thread(git.commit, sha)))


def author_environment(actor: Actor, data: Json) -> dict[str, str]:
    """Author and committer of a new commit: as given, else the actor."""
    login = actor.user.login if actor.user else "playground"
    default = {"name": login, "email": f"0+{login}@users.example.invalid"}
    author = {**default, **(data.get("author") or {})}
    committer = {**author, **(data.get("committer") or {})}
    env = {}
    for role, who in (("AUTHOR", author), ("COMMITTER", committer)):
        env[f"GIT_{role}_NAME"], env[f"GIT_{role}_EMAIL"] = str(who["name"]), str(who["email"])
        if who.get("date"):
            moment = datetime.fromisoformat(str(who["date"]).replace("Z", "+00:00"))
            env[f"GIT_{role}_DATE"] = f"{int(moment.timestamp())} +0000"
    return env


async def create_commit_object(call: Call) -> Response:
    (_, git, show), data = repo_of(call, "write"), await call.json()
    tree, parents = str(data.get("tree") or ""), [str(p) for p in data.get("parents") or []]
    if not data.get("message"):
        raise ApiError(422, 'Invalid request.\n\n"message" wasn\'t supplied.')
    if await in_thread(git.kind, tree) != "tree":
        raise ApiError(422, "Tree SHA does not exist")
    for parent in parents:
        if await in_thread(git.kind, parent) != "commit":
            raise ApiError(422, "Parent SHA does not exist or is not a commit object")
    env = author_environment(call.actor, data)
    sha = await in_thread(git.write_commit, tree, parents, str(data["message"]), env)
    return call.reply(show.git_commit(await in_thread(git.commit, sha)), 201)


# trees and blobs


async def get_tree(call: Call) -> Response:
    _, git, show = repo_of(call)
    name = call.part("sha")
    sha = name if await in_thread(git.kind, name) == "tree" else None
    if sha is None:
        commit = await in_thread(git.resolve, name)
        sha = (await in_thread(git.commit, commit)).tree if commit else None
    if sha is None:
        raise not_found()
    deep = bool(call.query("recursive"))
    return call.reply(show.tree(sha, await in_thread(git.tree, sha, deep=deep)))


def _make_tree(git: Git, items: list[Json], base: str | None) -> str:
    entries = []
    for item in items:
        sha = item.get("sha")
        if sha is None and item.get("content") is not None:
            sha = git.write_blob(str(item["content"]).encode())
        kind = str(item.get("type") or "blob")
        entries.append(Entry(str(item["path"]), str(item.get("mode") or "100644"), kind, sha))
    return git.write_tree(entries, base)


async def create_tree(call: Call) -> Response:
    (_, git, show), data = repo_of(call, "write"), await call.json()
    items, base = data.get("tree"), data.get("base_tree")
    if not isinstance(items, list) or not all(isinstance(i, dict) and i.get("path") for i in items):
        raise ApiError(422, "Invalid tree info")
    if base and await in_thread(git.kind, str(base)) not in ("tree", "commit"):
        raise ApiError(422, "base_tree is not a valid tree oid")
    try:
        sha = await in_thread(_make_tree, git, items, base)
    except GitError as error:
        raise ApiError(422, "tree.sha or tree.path is not valid") from error
    return call.reply(show.tree(sha, await in_thread(git.tree, sha)), 201)


async def get_blob(call: Call) -> Response:
    _, git, show = repo_of(call)
    sha = call.part("sha")
    if await in_thread(git.kind, sha) != "blob":
        raise not_found()
    return call.reply(show.blob(sha, await in_thread(git.blob, sha)))


async def create_blob(call: Call) -> Response:
    (_, git, show), data = repo_of(call, "write"), await call.json()
    content = str(data.get("content") or "").encode()
    if data.get("encoding") == "base64":
        try:
            content = base64.b64decode(content)
        except binascii.Error as error:
            raise invalid("Blob", "content") from error
    sha = await in_thread(git.write_blob, content)
    return call.reply({"sha": sha, "url": show.blob(sha, b"")["url"]}, 201)


ROUTES = [
    Route(GIT + "/ref/{ref:path}", api(get_ref)),
    Route(GIT + "/matching-refs/{ref:path}", api(matching_refs)),
    Route(GIT + "/refs", api(create_ref), methods=["POST"]),
    Route(GIT + "/refs/{ref:path}", api(update_ref), methods=["PATCH"]),
    Route(GIT + "/refs/{ref:path}", api(delete_ref), methods=["DELETE"]),
    Route(GIT + "/commits", api(create_commit_object), methods=["POST"]),
    Route(GIT + "/commits/{sha}", api(get_commit_object)),
    Route(GIT + "/trees", api(create_tree), methods=["POST"]),
    Route(GIT + "/trees/{sha:path}", api(get_tree)),
    Route(GIT + "/blobs", api(create_blob), methods=["POST"]),
    Route(GIT + "/blobs/{sha}", api(get_blob)),
]
