"""REST: references, objects of git, commits."""

from __future__ import annotations

import base64
import binascii
import re
import time

from starlette.responses import Response
from starlette.routing import Route

from app.playground.box import Actor, in_thread
from app.playground.calls import Call, api
from app.playground.errors import ApiError, invalid, not_found
from app.playground.git import ZERO, CommitInfo, Entry, Git, GitError
from app.playground.refs import moved
from app.playground.responses import node, stamp
from app.playground.state import Json, Repo

ROOT = "/repos/{owner}/{repo}"
_MODES = {
    "100644": "blob",
    "100755": "blob",
    "040000": "tree",
    "160000": "commit",
    "120000": "blob",
}


class Shown:
    """The JSON of git's things in one repository."""

    def __init__(self, call: Call, repo: Repo) -> None:
        self.api = f"{call.show.api}/repos/{repo.full_name}"
        self.web = f"{call.show.web}/{repo.full_name}"

    def ref(self, name: str, sha: str) -> Json:
        return {
            "ref": name,
            "node_id": node("REF", name),
            "url": f"{self.api}/git/{name}",
            "object": {"sha": sha, "type": "commit", "url": f"{self.api}/git/commits/{sha}"},
        }

    def _people(self, commit: CommitInfo) -> Json:
        return {
            role: {"name": who.name, "email": who.email, "date": stamp(who.date)}
            for role, who in (("author", commit.author), ("committer", commit.committer))
        }

    def git_commit(self, commit: CommitInfo) -> Json:
        return {
            "sha": commit.sha,
            "node_id": node("C", commit.sha),
            "url": f"{self.api}/git/commits/{commit.sha}",
            "html_url": f"{self.web}/commit/{commit.sha}",
            **self._people(commit),
            "tree": {"sha": commit.tree, "url": f"{self.api}/git/trees/{commit.tree}"},
            "message": commit.message,
            "parents": self._parents(commit),
            "verification": _UNSIGNED,
        }

    def _parents(self, commit: CommitInfo) -> list[Json]:
        return [
            {
                "sha": sha,
                "url": f"{self.api}/commits/{sha}",
                "html_url": f"{self.web}/commit/{sha}",
            }
            for sha in commit.parents
        ]

    def commit(self, commit: CommitInfo) -> Json:
        url = f"{self.api}/commits/{commit.sha}"
        return {
            "sha": commit.sha,
            "node_id": node("C", commit.sha),
            "url": url,
            "html_url": f"{self.web}/commit/{commit.sha}",
            "comments_url": f"{url}/comments",
            "commit": {
                **self._people(commit),
                "message": commit.message,
                "tree": {"sha": commit.tree, "url": f"{self.api}/git/trees/{commit.tree}"},
                "url": f"{self.api}/git/commits/{commit.sha}",
                "comment_count": 0,
                "verification": _UNSIGNED,
            },
            "author": None,
            "committer": None,
            "parents": self._parents(commit),
        }

    def tree(self, sha: str, entries: list[Entry]) -> Json:
        rows = []
        for entry in entries:
            row: Json = {"path": entry.path, "mode": entry.mode, "type": entry.kind}
            row |= {"sha": entry.sha, "url": f"{self.api}/git/{entry.kind}s/{entry.sha}"}
            if entry.size is not None:
                row["size"] = entry.size
            rows.append(row)
        return {"sha": sha, "url": f"{self.api}/git/trees/{sha}", "tree": rows, "truncated": False}


_UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def _of(call: Call, need: str = "read") -> tuple[Repo, Git, Shown]:
    repo = call.repo(need)
    return repo, call.box.git(repo), Shown(call, repo)


# references


async def get_ref(call: Call) -> Response:
    repo, git, shown = _of(call)
    name = f"refs/{call.part('ref')}"
    sha = await in_thread(git.ref, name)
    if sha is None or repo.hidden_refs.get(name, 0.0) > time.monotonic():
        raise not_found()
    return call.reply(shown.ref(name, sha))


async def matching_refs(call: Call) -> Response:
    _, git, shown = _of(call)
    found = await in_thread(git.refs, f"refs/{call.part('ref')}")
    return call.listed(sorted(found.items()), lambda pair: shown.ref(*pair))


async def create_ref(call: Call) -> Response:
    repo, git, shown = _of(call, "write")
    data = await call.json()
    name, sha = str(data.get("ref") or ""), str(data.get("sha") or "")
    if not name.startswith("refs/") or not await in_thread(git.valid_ref, name):
        raise ApiError(422, "Reference name is not valid.")
    if await in_thread(git.kind, sha) != "commit":
        raise ApiError(422, "Object does not exist")
    if not await in_thread(git.set_ref, name, sha, ZERO):
        raise ApiError(422, "Reference already exists")
    await moved(call.box, call.actor, repo, name, ZERO, sha)
    return call.reply(shown.ref(name, sha), 201)


async def update_ref(call: Call) -> Response:
    repo, git, shown = _of(call, "write")
    data = await call.json()
    name, sha = f"refs/{call.part('ref')}", str(data.get("sha") or "")
    old = await in_thread(git.ref, name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if await in_thread(git.kind, sha) != "commit":
        raise ApiError(422, "Object does not exist")
    if not data.get("force") and not await in_thread(git.is_ancestor, old, sha):
        raise ApiError(422, "Update is not a fast forward")
    if not await in_thread(git.set_ref, name, sha, old):
        raise ApiError(409, "Reference was moved")
    await moved(call.box, call.actor, repo, name, old, sha)
    return call.reply(shown.ref(name, sha))


async def delete_ref(call: Call) -> Response:
    repo, git, _ = _of(call, "write")
    name = f"refs/{call.part('ref')}"
    old = await in_thread(git.ref, name)
    if old is None or not await in_thread(git.drop_ref, name, old):
        raise ApiError(422, "Reference does not exist")
    await moved(call.box, call.actor, repo, name, old, ZERO)
    return Response(status_code=204)


# objects


def author_environment(actor: Actor, data: Json) -> dict[str, str]:
    """Git's environment that makes the caller, or whom `data` names, author and committer."""
    login = actor.user.login if actor.user else "playground"
    env: dict[str, str] = {}
    for role in ("author", "committer"):
        named = data.get(role) or data.get("author") or {}
        env[f"GIT_{role.upper()}_NAME"] = str(named.get("name") or login)
        env[f"GIT_{role.upper()}_EMAIL"] = str(named.get("email") or f"{login}@example.invalid")
        if named.get("date"):
            env[f"GIT_{role.upper()}_DATE"] = str(named["date"])
    return env


async def get_commit_object(call: Call) -> Response:
    _, git, shown = _of(call)
    sha = call.part("sha")
    if await in_thread(git.kind, sha) != "commit":
        raise not_found()
    return call.reply(shown.git_commit(await in_thread(git.commit, sha)))


async def create_commit_object(call: Call) -> Response:
    _, git, shown = _of(call, "write")
    data = await call.json()
    tree, parents = str(data.get("tree") or ""), [str(p) for p in data.get("parents") or []]
    if await in_thread(git.kind, tree) != "tree":
        raise invalid("Commit", "tree")
    for parent in parents:
        if await in_thread(git.kind, parent) != "commit":
            raise invalid("Commit", "parents")
    message, env = str(data.get("message") or ""), author_environment(call.actor, data)
    sha = await in_thread(git.write_commit, tree, parents, message, env)
    return call.reply(shown.git_commit(await in_thread(git.commit, sha)), 201)


async def get_tree(call: Call) -> Response:
    _, git, shown = _of(call)
    commit = await in_thread(git.resolve, call.part("sha"))
    name = commit or call.part("sha")
    if commit is None and await in_thread(git.kind, name) != "tree":
        raise not_found()
    deep = bool(call.query("recursive"))
    return call.reply(shown.tree(name, await in_thread(git.tree, name, deep=deep)))


async def create_tree(call: Call) -> Response:
    _, git, shown = _of(call, "write")
    data = await call.json()
    entries = [await in_thread(_entry, git, row) for row in data.get("tree") or []]
    base = data.get("base_tree")
    if base is not None and not await in_thread(git.kind, str(base)):
        raise invalid("Tree", "base_tree")
    try:
        sha = await in_thread(git.write_tree, entries, str(base) if base else None)
    except GitError as error:
        raise ApiError(422, f"Invalid tree info: {error}") from error
    return call.reply(shown.tree(sha, await in_thread(git.tree, sha)), 201)


def _entry(git: Git, row: Json) -> Entry:
    path, mode = str(row.get("path") or ""), str(row.get("mode") or "")
    if mode not in _MODES or not path or re.search(r"(^|/)(\.git|\.\.?)?(/|$)", path):
        raise ApiError(422, "tree.path contains a malformed path component")
    if "content" in row:
        return Entry(path, mode, "blob", git.write_blob(str(row["content"]).encode()))
    sha = row.get("sha")
    return Entry(path, mode, _MODES[mode], str(sha) if sha else None)


async def get_blob(call: Call) -> Response:
    repo, git, _ = _of(call)
    sha = call.part("sha")
    if await in_thread(git.kind, sha) != "blob":
        raise not_found()
    content = await in_thread(git.blob, sha)
    return call.reply(
        {
            "sha": sha,
            "node_id": node("B", sha),
            "size": len(content),
            "url": f"{call.show.api}/repos/{repo.full_name}/git/blobs/{sha}",
            "content": base64.encodebytes(content).decode(),
            "encoding": "base64",
        }
    )


async def create_blob(call: Call) -> Response:
    repo, git, _ = _of(call, "write")
    data = await call.json()
    text = str(data.get("content") or "")
    try:
        raw = base64.b64decode(text) if data.get("encoding") == "base64" else text.encode()
    except binascii.Error as error:
        raise invalid("Blob", "content") from error
    sha = await in_thread(git.write_blob, raw)
    url = f"{call.show.api}/repos/{repo.full_name}/git/blobs/{sha}"
    return call.reply({"sha": sha, "url": url}, 201)


# commits


async def resolve(repo: Repo, git: Git, name: str) -> str:
    """The commit that a branch or an id names; 404 while the branch is not visible yet."""
    found = await in_thread(git.resolve, name)
    hidden = repo.hidden_refs.get(f"refs/heads/{name}", 0.0) > time.monotonic()
    if found is None or hidden:
        raise ApiError(404, f"No commit found for the ref {name}")
    return found


async def list_commits(call: Call) -> Response:
    repo, git, shown = _of(call)
    start = await resolve(repo, git, call.query("sha") or repo.default_branch)
    return call.listed(await in_thread(git.log, start, call.query("path")), shown.commit)


async def get_commit(call: Call) -> Response:
    repo, git, shown = _of(call)
    sha = await resolve(repo, git, call.part("ref"))
    return call.reply(shown.commit(await in_thread(git.commit, sha)))


ROUTES = [
    Route(ROOT + "/git/ref/{ref:path}", api(get_ref)),
    Route(ROOT + "/git/matching-refs/{ref:path}", api(matching_refs)),
    Route(ROOT + "/git/refs", api(create_ref), methods=["POST"]),
    Route(ROOT + "/git/refs/{ref:path}", api(update_ref), methods=["PATCH"]),
    Route(ROOT + "/git/refs/{ref:path}", api(delete_ref), methods=["DELETE"]),
    Route(ROOT + "/git/commits", api(create_commit_object), methods=["POST"]),
    Route(ROOT + "/git/commits/{sha}", api(get_commit_object)),
    Route(ROOT + "/git/trees", api(create_tree), methods=["POST"]),
    Route(ROOT + "/git/trees/{sha}", api(get_tree)),
    Route(ROOT + "/git/blobs", api(create_blob), methods=["POST"]),
    Route(ROOT + "/git/blobs/{sha}", api(get_blob)),
    Route(ROOT + "/commits", api(list_commits)),
    Route(ROOT + "/commits/{ref:path}", api(get_commit)),
]
