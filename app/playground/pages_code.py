"""Pages: files of any branch, commits."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.playground.box import in_thread
from app.playground.errors import not_found
from app.playground.git import Git
from app.playground.git_diff import changed_files
from app.playground.state import Json, Repo
from app.playground.views import Visit, page

ROOT = "/{owner}/{repo}"


async def _place(git: Git, text: str) -> tuple[str, str, str]:
    """`branch/with/slashes/path` as (branch, path, commit): the longest branch wins."""
    names = await in_thread(git.refs, "refs/heads/")
    branches = sorted((n.removeprefix("refs/heads/") for n in names), key=len, reverse=True)
    for branch in branches:
        if text == branch or text.startswith(branch + "/"):
            return branch, text[len(branch) + 1 :], names[f"refs/heads/{branch}"]
    name, _, path = text.partition("/")
    commit = await in_thread(git.resolve, name)
    if commit is None:
        raise not_found()
    return name, path, commit


async def _common(repo: Repo, git: Git, place: tuple[str, str, str]) -> Json:
    branch, path, commit = place
    names = await in_thread(git.refs, "refs/heads/")
    steps = path.split("/") if path else []
    return {
        "repo": repo,
        "branch": branch,
        "path": path,
        "commit": await in_thread(git.commit, commit),
        "branches": sorted(name.removeprefix("refs/heads/") for name in names),
        "crumbs": [(step, "/".join(steps[: i + 1])) for i, step in enumerate(steps)],
    }


async def tree(visit: Visit) -> Response:
    """A folder, with its README below."""
    repo = visit.repo()
    git = visit.box.git(repo)
    place = await _place(git, visit.request.path_params.get("place") or repo.default_branch)
    _, path, commit = place
    entries = await in_thread(git.tree, commit, f"{path}/" if path else "")
    if path and not entries:
        raise not_found()
    entries.sort(key=lambda entry: (entry.kind != "tree", entry.path))
    readme = next((e for e in entries if e.path.lower().endswith("readme.md") and e.sha), None)
    text = (await in_thread(git.blob, str(readme.sha))).decode() if readme else None
    common = await _common(repo, git, place)
    return visit.page("tree.html", entries=entries, readme=text, **common)


async def _file(visit: Visit) -> tuple[Repo, Git, tuple[str, str, str], bytes]:
    repo = visit.repo()
    git = visit.box.git(repo)
    place = await _place(git, visit.part("place"))
    entry = await in_thread(git.entry, place[2], place[1])
    if entry is None or entry.kind != "blob" or entry.sha is None:
        raise not_found()
    return repo, git, place, await in_thread(git.blob, entry.sha)


async def blob(visit: Visit) -> Response:
    """A file: Markdown rendered (`?plain=1`: as it is), the rest with line numbers."""
    repo, git, place, content = await _file(visit)
    text = None if b"\0" in content else content.decode(errors="replace")
    pretty = place[1].lower().endswith(".md") and not visit.query("plain")
    common = await _common(repo, git, place)
    return visit.page("blob.html", text=text, pretty=pretty, size=len(content), **common)


async def raw(visit: Visit) -> Response:
    """A file as it is."""
    *_, content = await _file(visit)
    return PlainTextResponse(content)


async def commits(visit: Visit) -> Response:
    """The commits of a branch."""
    repo = visit.repo()
    git = visit.box.git(repo)
    place = await _place(git, visit.request.path_params.get("place") or repo.default_branch)
    found = await in_thread(git.log, place[2], "", 50)
    return visit.page("commits.html", commits=found, **await _common(repo, git, place))


async def commit(visit: Visit) -> Response:
    """A commit with its changes and checks."""
    repo = visit.repo()
    git = visit.box.git(repo)
    sha = await in_thread(git.resolve, visit.part("sha"))
    if sha is None:
        raise not_found()
    info = await in_thread(git.commit, sha)
    files = await in_thread(changed_files, git, info.parents[0], sha) if info.parents else []
    checks = [check for check in repo.checks if check.head_sha == sha]
    return visit.page("commit.html", repo=repo, commit=info, files=files, checks=checks)


ROUTES = [
    Route(ROOT, page(tree)),
    Route(ROOT + "/tree/{place:path}", page(tree)),
    Route(ROOT + "/blob/{place:path}", page(blob)),
    Route(ROOT + "/raw/{place:path}", page(raw)),
    Route(ROOT + "/commits", page(commits)),
    Route(ROOT + "/commits/{place:path}", page(commits)),
    Route(ROOT + "/commit/{sha}", page(commit)),
]
