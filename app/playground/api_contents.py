"""REST: files and folders by path, branches, code search."""

from __future__ import annotations

import base64
import binascii
import re

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_git import ROOT, author_environment, resolve
from app.playground.api_protection import protection
from app.playground.box import in_thread
from app.playground.calls import Call, api
from app.playground.errors import ApiError, invalid, not_found
from app.playground.git import Entry, Git
from app.playground.refs import moved
from app.playground.responses_git import GitResponses
from app.playground.state import Json, Repo

CONTENTS = ROOT + "/contents/{path:path}"


async def get_contents(call: Call) -> Response:
    repo = call.repo()
    git, show, path = call.box.git(repo), GitResponses(call.box, repo), call.part("path").strip("/")
    ref = call.query("ref") or repo.default_branch
    commit = await resolve(repo, git, ref)
    found = await in_thread(git.entry, commit, path) if path else None
    if path and found is None:
        raise not_found()
    if found is None or found.kind == "tree":
        entries = await in_thread(git.tree, commit, f"{path}/" if path else "")
        return call.reply([show.entry(entry, ref) for entry in entries])
    content = await in_thread(git.blob, str(found.sha))
    if "raw" in call.request.headers.get("accept", ""):
        return Response(content, media_type="application/vnd.github.raw; charset=utf-8")
    return call.reply(show.entry(found, ref, content))


async def put_contents(call: Call) -> Response:
    """Create or change one file with a commit of its own."""
    repo, data = call.repo("write"), await call.json()
    git, path = call.box.git(repo), call.part("path")
    try:
        content = base64.b64decode(str(data.get("content", "")).replace("\n", ""), validate=True)
    except binascii.Error as error:
        raise ApiError(422, "content is not valid Base64") from error
    old = await _standing(repo, git, data, path)
    sha = await in_thread(git.write_blob, content)
    result = await _commit(call, repo, data, Entry(path, "100644", "blob", sha, len(content)))
    return call.reply(result, 200 if old else 201)


async def delete_contents(call: Call) -> Response:
    """Take one file away with a commit of its own."""
    repo, data = call.repo("write"), await call.json()
    path = call.part("path")
    if await _standing(repo, call.box.git(repo), data, path) is None:
        raise not_found()
    return call.reply(await _commit(call, repo, data, Entry(path, "100644", "blob", None)))


async def _standing(repo: Repo, git: Git, data: Json, path: str) -> Entry | None:
    """The file as it stands; the caller must know it by its `sha`."""
    head = await resolve(repo, git, str(data.get("branch") or repo.default_branch))
    found = await in_thread(git.entry, head, path)
    if found and not data.get("sha"):
        raise ApiError(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if found and data["sha"] != found.sha:
        raise ApiError(409, f"{path} does not match {data['sha']}")
    return found


async def _commit(call: Call, repo: Repo, data: Json, entry: Entry) -> Json:
    git, show = call.box.git(repo), GitResponses(call.box, repo)
    branch = str(data.get("branch") or repo.default_branch)
    head = await resolve(repo, git, branch)
    if not data.get("message"):
        raise invalid("Commit", "message", "missing_field")
    tree = await in_thread(git.write_tree, [entry], head)
    env = author_environment(call.actor, data)
    sha = await in_thread(git.write_commit, tree, [head], str(data["message"]), env)
    name = f"refs/heads/{branch}"
    if not await in_thread(git.set_ref, name, sha, head):
        raise ApiError(409, "The branch has moved")
    await moved(call.box, call.actor, repo, name, head, sha)
    info = await in_thread(git.commit, sha)
    content = show.entry(entry, branch) if entry.sha else None
    return {"content": content, "commit": show.git_commit(info)}


# branches


def _branch(call: Call, repo: Repo, name: str, sha: str) -> Json:
    api_url = f"{call.show.api}/repos/{repo.full_name}"
    return {
        "name": name,
        "commit": {"sha": sha, "url": f"{api_url}/commits/{sha}"},
        **protection(repo, name),
        "protection_url": f"{api_url}/branches/{name}/protection",
    }


async def list_branches(call: Call) -> Response:
    repo = call.repo()
    found = await in_thread(call.box.git(repo).refs, "refs/heads/")
    pairs = [(name.removeprefix("refs/heads/"), sha) for name, sha in sorted(found.items())]
    return call.listed(pairs, lambda pair: _branch(call, repo, *pair))


async def get_branch(call: Call) -> Response:
    repo, name = call.repo(), call.part("branch")
    git, show = call.box.git(repo), GitResponses(call.box, repo)
    sha = await in_thread(git.ref, f"refs/heads/{name}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    data = _branch(call, repo, name, sha)
    url = f"{show.api}/branches/{name}"
    data["commit"] = show.commit(await in_thread(git.commit, sha))
    data["_links"] = {"self": url, "html": f"{show.web}/tree/{name}"}
    return call.reply(data)


# search


async def search_code(call: Call) -> Response:
    """Files whose content has all the words; `repo:` narrows it down."""
    call.person()
    words = call.query("q").split()
    names = [word.removeprefix("repo:") for word in words if word.startswith("repo:")]
    terms = [word.strip('"') for word in words if not re.match(r"\w+:", word)]
    items: list[Json] = []
    for repo in list(call.box.world.repos.values()):
        if (not names or repo.full_name in names) and call.box.may(call.actor, repo, "read"):
            items += await in_thread(_search, call, repo, terms)
    page, headers = call.page_of(items)
    data = {"total_count": len(items), "incomplete_results": False, "items": page}
    return call.reply(data, headers=headers)


def _search(call: Call, repo: Repo, terms: list[str]) -> list[Json]:
    git, show = call.box.git(repo), GitResponses(call.box, repo)
    head = git.resolve(repo.default_branch)
    if head is None or not terms:
        return []
    found = []
    for entry in git.tree(head, deep=True):
        if entry.kind == "blob" and entry.sha:
            text = git.blob(entry.sha).decode(errors="replace")
            if all(term.lower() in text.lower() for term in terms):
                item = show.entry(entry, head)
                kept = {key: item[key] for key in ("name", "path", "sha", "url", "git_url")}
                kept |= {"html_url": item["html_url"], "repository": call.show.repo(repo)}
                found.append({**kept, "score": 1.0})
                if "text-match" in call.request.headers.get("accept", ""):
                    found[-1]["text_matches"] = [_match(item["url"], text, terms)]
    return found


def _match(url: str, text: str, terms: list[str]) -> Json:
    """The lines around the first term that is found."""
    at = max(text.lower().find(terms[0].lower()), 0) if terms else 0
    fragment = text[max(at - 120, 0) : at + 240]
    return {
        "object_url": url,
        "object_type": "FileContent",
        "property": "content",
        "fragment": fragment,
        "matches": [],
    }


ROUTES = [
    Route(CONTENTS, api(get_contents), methods=["GET"]),
    Route(CONTENTS, api(put_contents), methods=["PUT"]),
    Route(CONTENTS, api(delete_contents), methods=["DELETE"]),
    Route(ROOT + "/branches", api(list_branches)),
    Route(ROOT + "/branches/{branch:path}", api(get_branch)),
    Route("/search/code", api(search_code)),
]
