"""REST: reviews of pull requests and comments on their lines."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from app.playground.api_pulls import ONE, PULLS, pull_issue
from app.playground.calls import Call, api
from app.playground.deeds import Deeds
from app.playground.deeds_pulls import check_lines, line_comment, review
from app.playground.errors import ApiError, invalid, not_found
from app.playground.responses_pulls import pull_of, review_comment_json, review_json
from app.playground.state import Issue, Json, Repo, now, visible
from app.playground.state_pulls import Review, ReviewComment

COMMENT = PULLS + "/comments/{comment:int}"


async def list_reviews(call: Call) -> Response:
    repo = call.repo()
    issue = pull_issue(call, repo)
    found = pull_of(issue).reviews
    return call.listed(found, lambda one: review_json(call.box, repo, issue, one))


async def create_review(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    issue = pull_issue(call, repo)
    doer = Deeds(call.box, call.actor, repo)
    await check_lines(doer, issue, data.get("comments") or [])
    made = review(doer, issue, data)
    return call.reply(review_json(call.box, repo, issue, made))


def _review(call: Call, issue: Issue) -> Review:
    wanted = call.number("review")
    found = next((one for one in pull_of(issue).reviews if one.id == wanted), None)
    if found is None:
        raise not_found()
    return found


async def get_review(call: Call) -> Response:
    repo = call.repo()
    issue = pull_issue(call, repo)
    return call.reply(review_json(call.box, repo, issue, _review(call, issue)))


async def update_review(call: Call) -> Response:
    """PUT changes the text; only its author may."""
    repo, data = call.repo(), await call.json()
    issue = pull_issue(call, repo)
    found = _review(call, issue)
    Deeds(call.box, call.actor, repo).need("admin", found.user)
    found.body = str(data.get("body") or "")
    return call.reply(review_json(call.box, repo, issue, found))


async def dismiss_review(call: Call) -> Response:
    repo, data = call.repo("write"), await call.json()
    issue = pull_issue(call, repo)
    found = _review(call, issue)
    if not data.get("message"):
        raise invalid("PullRequestReview", "message", "missing_field")
    if found.state not in ("APPROVED", "CHANGES_REQUESTED"):
        text = f"Can not dismiss a {found.state.lower()} pull request review"
        raise ApiError(422, f"Unprocessable Entity: {text}", [{"message": text}])
    found.state = "DISMISSED"
    return call.reply(review_json(call.box, repo, issue, found))


async def list_comments(call: Call) -> Response:
    repo = call.repo()
    issue = pull_issue(call, repo)
    found = visible(pull_of(issue).comments)
    return call.listed(found, lambda one: review_comment_json(call.box, repo, issue, one))


async def create_comment(call: Call) -> Response:
    """A single comment, which GitHub counts as a review of its own."""
    repo, data = call.repo(), await call.json()
    issue, doer = pull_issue(call, repo), Deeds(call.box, call.actor, repo)
    await check_lines(doer, issue, [data])
    return _single(call, doer, issue, data)


async def reply(call: Call) -> Response:
    """An answer in the thread of the path's comment."""
    repo, data = call.repo(), await call.json()
    issue, doer = pull_issue(call, repo), Deeds(call.box, call.actor, repo)
    return _single(call, doer, issue, {**data, "in_reply_to": call.number("comment")})


def _single(call: Call, doer: Deeds, issue: Issue, data: Json) -> Response:
    pull = pull_of(issue)
    within = Review(call.box.world.new_id(), doer.who, "COMMENTED", "", pull.head_sha)
    comment = line_comment(doer, issue, data, within)
    pull.reviews.append(within)
    return call.reply(review_comment_json(call.box, doer.repo, issue, comment), 201)


def _comment(call: Call, repo: Repo) -> tuple[Issue, ReviewComment]:
    wanted = call.number("comment")
    for issue in repo.issues.values():
        for comment in visible(issue.pull.comments) if issue.pull else []:
            if comment.id == wanted:
                return issue, comment
    raise not_found()


async def one_comment(call: Call) -> Response:
    """GET shows, PATCH changes, DELETE removes a comment on a line."""
    repo, data = call.repo(), await call.json()
    issue, comment = _comment(call, repo)
    if call.request.method == "GET":
        return call.reply(review_comment_json(call.box, repo, issue, comment))
    Deeds(call.box, call.actor, repo).need("write", comment.user)
    if call.request.method == "DELETE":
        pull_of(issue).comments.remove(comment)
        return Response(status_code=204)
    comment.body, comment.updated = str(data.get("body") or ""), now()
    return call.reply(review_comment_json(call.box, repo, issue, comment))


async def reactions(call: Call) -> Response:
    repo, data = call.repo(), await call.json()
    _, comment = _comment(call, repo)
    if call.request.method == "GET":
        return call.listed(comment.reactions, call.show.reaction)
    doer = Deeds(call.box, call.actor, repo)
    reaction, fresh = doer.react(comment.reactions, str(data.get("content")))
    return call.reply(call.show.reaction(reaction), 201 if fresh else 200)


ROUTES = [
    Route(ONE + "/reviews", api(list_reviews), methods=["GET"]),
    Route(ONE + "/reviews", api(create_review), methods=["POST"]),
    Route(ONE + "/reviews/{review:int}", api(get_review), methods=["GET"]),
    Route(ONE + "/reviews/{review:int}", api(update_review), methods=["PUT"]),
    Route(ONE + "/reviews/{review:int}/dismissals", api(dismiss_review), methods=["PUT"]),
    Route(ONE + "/comments", api(list_comments), methods=["GET"]),
    Route(ONE + "/comments", api(create_comment), methods=["POST"]),
    Route(ONE + "/comments/{comment:int}/replies", api(reply), methods=["POST"]),
    Route(COMMENT, api(one_comment), methods=["GET", "PATCH", "DELETE"]),
    Route(COMMENT + "/reactions", api(reactions), methods=["GET", "POST"]),
]
