"""Git over smart HTTP, by `git http-backend`."""

from __future__ import annotations

import subprocess

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.playground.auth import authenticate
from app.playground.box import Actor, Box, in_thread
from app.playground.errors import ApiError
from app.playground.git import ZERO, Git
from app.playground.refs import moved
from app.playground.state import Repo

_PATHS = ("info/refs", "git-upload-pack", "git-receive-pack")


async def serve_git(request: Request) -> Response:
    """Clone, fetch and push. Reading a public repository is open; a push needs the right to."""
    box: Box = request.app.state.box
    await box.start()
    path = request.path_params["rest"]
    repo = box.world.repo(request.path_params["owner"], request.path_params["repo"])
    if repo is None or path not in _PATHS:
        return Response("Not found", 404)
    push = "git-receive-pack" in (path, request.query_params.get("service"))
    try:
        actor = authenticate(box, request.headers.get("authorization"))
    except ApiError:
        return _ask()
    if not box.may(actor, repo, "write" if push else "read"):
        return _ask() if actor.user is None else Response("Permission denied", 403)
    body = await request.body()
    if path != "git-receive-pack":
        return await in_thread(_backend, request, box.git(repo), actor, body)
    return await _push(request, box, repo, actor, body)


async def _push(request: Request, box: Box, repo: Repo, actor: Actor, body: bytes) -> Response:
    git = box.git(repo)
    before = await in_thread(git.refs)
    response = await in_thread(_backend, request, git, actor, body)
    after = await in_thread(git.refs)
    for name in sorted({*before, *after}):
        await moved(box, actor, repo, name, before.get(name, ZERO), after.get(name, ZERO))
    return response


def _ask() -> Response:
    """Git asks for a password when it sees this."""
    return Response("Authentication required", 401, {"WWW-Authenticate": 'Basic realm="git"'})


def _backend(request: Request, git: Git, actor: Actor, body: bytes) -> Response:
    headers = request.headers
    env = {
        **git.env,
        "GIT_PROJECT_ROOT": str(git.path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{git.path.name}/{request.path_params['rest']}",
        "QUERY_STRING": request.url.query,
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
        "GIT_PROTOCOL": headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    if actor.user is not None:
        env["REMOTE_USER"] = actor.user.login
    command = ["git", "http-backend"]
    done = subprocess.run(command, input=body, env=env, capture_output=True, check=False)
    return _cgi(done.stdout)


def _cgi(raw: bytes) -> Response:
    """What a CGI program printed, as a response."""
    head, _, body = raw.partition(b"\r\n\r\n")
    status, headers = 200, {}
    for line in head.decode("latin-1").split("\r\n"):
        name, colon, value = line.partition(": ")
        if name.lower() == "status":
            status = int(value.split()[0])
        elif colon:
            headers[name] = value
    return Response(body, status, headers)


ROUTES = [Route("/{owner}/{repo}.git/{rest:path}", serve_git, methods=["GET", "POST"])]
