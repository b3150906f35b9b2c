"""Pages: issues and their threads."""

from __future__ import annotations

import hashlib
from itertools import chain

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from app.playground.deeds import Deeds
from app.playground.deeds_pulls import set_draft, set_resolved
from app.playground.errors import not_found
from app.playground.state import Comment, Event, Issue, Json, Reaction, Repo, visible
from app.playground.state_pulls import Pull, Review, ReviewComment
from app.playground.views import COOKIE, Visit, back, hue, page

ISSUES = "/{owner}/{repo}/issues"
ISSUE = ISSUES + "/{number:int}"


async def home(visit: Visit) -> Response:
    """The list of repositories."""
    repos = [r for r in visit.box.world.repos.values() if visit.may(r, "read")]
    return visit.page("home.html", repos=repos)


async def session(visit: Visit) -> Response:
    """Act as somebody else."""
    form = await visit.form()
    response = back(form.get("back", "/"))
    response.set_cookie(COOKIE, form.get("login", ""), samesite="lax", httponly=True)
    return response


async def avatar(visit: Visit) -> Response:
    """A picture for clients that show one."""
    login = visit.part("login")
    text = login[:2].upper() if login.isascii() and login[:2].isalnum() else "?"
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40">'
        f'<rect width="40" height="40" rx="20" fill="hsl({hue(login)} 45% 45%)"/>'
        '<text x="20" y="26" font-family="sans-serif" font-size="16" fill="#fff"'
        f' text-anchor="middle">{text}</text></svg>'
    )
    return Response(svg, media_type="image/svg+xml")


async def issues(visit: Visit) -> Response:
    """The list of issues."""
    repo, state = visit.repo(), visit.query("state", "open")
    every = [issue for issue in visible(repo.issues.values()) if issue.pull is None]
    counts = {name: sum(i.state == name for i in every) for name in ("open", "closed")}
    shown = [issue for issue in reversed(every) if issue.state == state]
    return visit.page("issues.html", repo=repo, issues=shown, state=state, counts=counts)


async def new_issue(visit: Visit) -> Response:
    """The form."""
    return visit.page("new_issue.html", repo=visit.repo())


async def create_issue(visit: Visit) -> Response:
    repo, form = visit.repo(), await visit.form()
    doer = Deeds(visit.box, visit.actor, repo)
    label = form.get("label")
    issue = doer.open_issue(
        form.get("title", ""), form.get("body", ""), [label] if label else [], []
    )
    return back(f"/{repo.full_name}/issues/{issue.number}")


# the thread


def thread(visit: Visit, repo: Repo, issue: Issue) -> Json:
    """What the templates of a thread need."""
    reviews = issue.pull.reviews if issue.pull else []
    lines: list[Comment | Event | Review] = sorted(
        chain(visible(issue.comments), issue.events, reviews), key=lambda line: line.id
    )
    author = visit.actor.user is issue.user
    return {
        "repo": repo,
        "issue": issue,
        "lines": lines,
        "threads": issue.pull.threads() if issue.pull else {},
        "triage": visit.may(repo, "triage"),
        "write": visit.may(repo, "write"),
        "may_close": author or visit.may(repo, "triage"),
        "address": f"/{repo.full_name}/issues/{issue.number}",
        "own_page": f"/{repo.full_name}/{'pull' if issue.pull else 'issues'}/{issue.number}",
    }


async def show_issue(visit: Visit) -> Response:
    repo = visit.repo()
    issue = visit.issue(repo)
    if issue.pull is not None:
        return RedirectResponse(f"/{repo.full_name}/pull/{issue.number}", 302)
    return visit.page("issue.html", **thread(visit, repo, issue))


async def fragment(visit: Visit) -> Response:
    """The part of a thread that changes; 304 if the browser has it already."""
    repo = visit.repo()
    text = visit.html("_thread.html", **thread(visit, repo, visit.issue(repo)))
    headers = {"ETag": f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'}
    if visit.request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(text, media_type="text/html", headers=headers)


def _comment(issue: Issue, number: str) -> Comment:
    found = (comment for comment in issue.comments if str(comment.id) == number)
    comment = next(found, None)
    if comment is None:
        raise not_found()
    return comment


def _first(pull: Pull, number: str) -> ReviewComment:
    found = next((first for first in pull.threads() if str(first.id) == number), None)
    if found is None:
        raise not_found()
    return found


def toggle(doer: Deeds, reactions: list[Reaction], content: str) -> None:
    """Give an emoji, or take it back."""
    for reaction in reactions:
        if reaction.user is doer.who and reaction.content == content:
            doer.unreact(reactions, reaction.id)
            return
    doer.react(reactions, content)


async def act(visit: Visit) -> Response:
    """One form of the thread; `deed` says which."""
    repo, form = visit.repo(), await visit.form()
    issue = visit.issue(repo)
    doer = Deeds(visit.box, visit.actor, repo)
    anchor = perform(doer, issue, form)
    kind = "pull" if issue.pull else "issues"
    if form.get("deed") == "delete":
        return back(f"/{repo.full_name}/issues")
    return back(f"/{repo.full_name}/{kind}/{issue.number}{anchor}")


def perform(doer: Deeds, issue: Issue, form: dict[str, str]) -> str:
    """Do what a form says. Returns the place of the page to look at."""
    body, target = form.get("body", ""), form.get("comment", "")
    match form.get("deed"):
        case "comment":
            if form.get("also") in ("closed", "open"):
                if body.strip():
                    doer.comment(issue, body)
                doer.set_state(issue, form["also"])
                return ""
            return f"#issuecomment-{doer.comment(issue, body).id}"
        case "edit" if target:
            doer.edit_comment(issue, _comment(issue, target), body)
            return f"#issuecomment-{target}"
        case "edit":
            doer.edit_issue(issue, form.get("title"), body if "body" in form else None)
        case "delete-comment":
            doer.delete_comment(issue, _comment(issue, target))
        case "react":
            reactions = _comment(issue, target).reactions if target else issue.reactions
            toggle(doer, reactions, form.get("content", ""))
            return f"#issuecomment-{target}" if target else ""
        case "label":
            name = form.get("name", "")
            if name in issue.labels:
                doer.remove_label(issue, name)
            else:
                doer.add_labels(issue, [name])
        case "ready" | "draft" as deed if issue.pull:
            set_draft(doer, issue, deed == "draft")
        case "resolve" | "unresolve" as deed if issue.pull:
            set_resolved(doer, issue, _first(issue.pull, target), deed == "resolve")
            return f"#discussion_r{target}"
        case "delete":
            doer.delete_issue(issue)
        case _:
            raise not_found()
    return ""


ROUTES = [
    Route("/", page(home)),
    Route("/session", page(session), methods=["POST"]),
    Route("/avatars/{login}", page(avatar)),
    Route(ISSUES, page(issues), methods=["GET"]),
    Route(ISSUES, page(create_issue), methods=["POST"]),
    Route(ISSUES + "/new", page(new_issue)),
    Route(ISSUE, page(show_issue), methods=["GET"]),
    Route(ISSUE, page(act), methods=["POST"]),
    Route(ISSUE + "/fragment", page(fragment)),
]
