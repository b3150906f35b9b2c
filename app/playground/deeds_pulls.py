"""What can be done to pull requests: for REST and pages."""

from __future__ import annotations

import re

from app.playground.box import in_thread
from app.playground.deeds import Deeds
from app.playground.errors import ApiError, invalid
from app.playground.git_diff import commentable, merge_base, merged_tree
from app.playground.protection import obstacle
from app.playground.refs import moved
from app.playground.responses_pulls import (
    pull_json,
    pull_of,
    review_comment_json,
    review_json,
    thread_node,
)
from app.playground.state import Issue, Json, now
from app.playground.state_pulls import Pull, Review, ReviewComment

_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d{1,9})\b", re.I)
REVIEWS = {
    "APPROVE": ("APPROVED", "approved"),
    "REQUEST_CHANGES": ("CHANGES_REQUESTED", "changes_requested"),
    "COMMENT": ("COMMENTED", "commented"),
}


async def open_pull(doer: Deeds, data: Json) -> Issue:
    """Open a pull request between two branches of the repository."""
    box, repo = doer.box, doer.repo
    doer.need("write")
    git = box.git(repo)
    head = str(data.get("head") or "").rpartition(":")[2]
    base = str(data.get("base") or "")
    shas = []
    for name, branch in (("head", head), ("base", base)):
        sha = await in_thread(git.ref, f"refs/heads/{branch}") if branch else None
        if sha is None:
            raise invalid("PullRequest", name)
        shas.append(sha)
    for other in repo.issues.values():
        if (
            other.pull
            and other.state == "open"
            and (other.pull.head, other.pull.base)
            == (
                head,
                base,
            )
        ):
            text = f"A pull request already exists for {repo.owner}:{head}."
            raise invalid("PullRequest", "base", "custom", text)
    if await in_thread(merge_base, git, shas[1], shas[0]) == shas[0]:
        text = f"No commits between {base} and {head}"
        raise invalid("PullRequest", "head", "custom", text)
    issue = doer.new_issue(str(data.get("title") or ""), str(data.get("body") or ""))
    draft = bool(data.get("draft"))
    issue.pull = Pull(box.world.new_id(), head, base, shas[0], shas[1], draft)
    doer.tell_issue(issue, "opened")
    return issue


def review(doer: Deeds, issue: Issue, data: Json) -> Review:
    """Review it. An author can only comment on the own pull request."""
    pull, event = pull_of(issue), str(data.get("event") or "")
    body, notes = str(data.get("body") or ""), data.get("comments") or []
    if event not in ("", *REVIEWS):
        raise invalid("PullRequestReview", "event")
    if doer.who is issue.user and event in ("APPROVE", "REQUEST_CHANGES"):
        word = "approve" if event == "APPROVE" else "request changes on"
        text = f"Can not {word} your own pull request"
        raise ApiError(422, f"Unprocessable Entity: {text}", [{"message": text}])
    if event in ("REQUEST_CHANGES", "COMMENT") and not body and not notes:
        raise invalid("PullRequestReview", "body", "missing_field")
    state, action = REVIEWS.get(event, ("PENDING", ""))
    commit = str(data.get("commit_id") or pull.head_sha)
    made = Review(doer.box.world.new_id(), doer.who, state, body, commit)
    pull.reviews.append(made)
    for note in notes:
        line_comment(doer, issue, note, made)
    if action:
        shown = review_json(doer.box, doer.repo, issue, made)
        shown["state"] = state.lower()
        about = pull_json(doer.box, doer.repo, issue)
        doer.tell("pull_request_review", "submitted", review=shown, pull_request=about)
    return made


def _thread(pull: Pull, comment: object) -> ReviewComment:
    """The first comment of the thread that a comment belongs to: replies answer that one."""
    for first, replies in pull.threads().items():
        if any(one.id == comment for one in (first, *replies)):
            return first
    raise invalid("PullRequestReviewComment", "in_reply_to")


async def check_lines(doer: Deeds, issue: Issue, notes: list[Json]) -> None:
    """Raise 422 unless every comment is on a line that the pull request's diff shows."""
    git, pull = doer.box.git(doer.repo), pull_of(issue)
    notes = [note for note in notes if not note.get("in_reply_to")]
    if not notes:
        return
    common = await in_thread(merge_base, git, pull.base_sha, pull.head_sha)
    shown = await in_thread(commentable, git, common or pull.base_sha, pull.head_sha)
    for note in notes:
        path, side = str(note.get("path") or ""), str(note.get("side") or "RIGHT")
        if (path, side) not in shown:
            raise ApiError(422, "Unprocessable Entity", ["Path could not be resolved"])
        line = note.get("line") or note.get("position")
        if line is not None and line not in shown[path, side]:
            raise ApiError(422, "Unprocessable Entity", ["Line could not be resolved"])


def set_draft(doer: Deeds, issue: Issue, draft: bool) -> None:
    """Make it a draft, or ready for review: its author, or write and up."""
    doer.need("write", issue.user)
    pull = pull_of(issue)
    if issue.state != "open":
        raise ApiError(422, "Pull request is closed")
    if pull.draft == draft:
        return
    pull.draft = draft
    doer.note(issue, "convert_to_draft" if draft else "ready_for_review")
    doer.tell_issue(issue, "converted_to_draft" if draft else "ready_for_review")


def set_resolved(doer: Deeds, issue: Issue, first: ReviewComment, resolved: bool) -> None:
    """Resolve a thread, or take that back: the pull request's author, or write and up."""
    doer.need("write", issue.user)
    if first.resolved == resolved:
        return
    first.resolved = resolved
    box, repo = doer.box, doer.repo
    comments = [first, *pull_of(issue).threads()[first]]
    thread = {
        "node_id": thread_node(first),
        "comments": [review_comment_json(box, repo, issue, one) for one in comments],
    }
    about = pull_json(box, repo, issue)
    action = "resolved" if resolved else "unresolved"
    doer.tell("pull_request_review_thread", action, thread=thread, pull_request=about)


def line_comment(doer: Deeds, issue: Issue, data: Json, within: Review) -> ReviewComment:
    """Comment on a line, as a part of a review."""
    pull = pull_of(issue)
    above = _thread(pull, data["in_reply_to"]) if data.get("in_reply_to") else None
    if above is not None:
        data = {**data, "path": above.path, "line": above.line, "side": above.side}
    if not data.get("body") or not data.get("path"):
        raise invalid("PullRequestReviewComment", "path", "missing_field")
    line = data.get("line") or data.get("position")
    comment = ReviewComment(
        doer.box.world.new_id(),
        doer.who,
        str(data["body"]),
        str(data["path"]),
        int(line) if line else None,
        str(data.get("commit_id") or pull.head_sha),
        within.id,
        str(data.get("side") or "RIGHT"),
        above.id if above else None,
    )
    pull.comments.append(comment)
    shown = review_comment_json(doer.box, doer.repo, issue, comment)
    about = pull_json(doer.box, doer.repo, issue)
    doer.tell("pull_request_review_comment", "created", comment=shown, pull_request=about)
    return comment


async def merge(doer: Deeds, issue: Issue, data: Json) -> str:
    """Merge it (`merge`, or `squash`). Returns the new commit."""
    doer.need("write")
    box, repo, pull = doer.box, doer.repo, pull_of(issue)
    if issue.state != "open" or pull.draft:
        raise ApiError(405, "Pull Request is not mergeable")
    hindrance = obstacle(repo, pull)
    if hindrance is not None:
        raise ApiError(405, hindrance)
    if data.get("sha") not in (None, pull.head_sha):
        raise ApiError(409, "Head branch was modified. Review and try the merge again.")
    git, name = box.git(repo), f"refs/heads/{pull.base}"
    base = await in_thread(git.ref, name)
    tree = await in_thread(merged_tree, git, base, pull.head_sha) if base else None
    if base is None or tree is None:
        raise ApiError(405, "Pull Request is not mergeable")
    default = f"Merge pull request #{issue.number} from {repo.owner}/{pull.head}"
    message = (
        f"{data.get('commit_title') or default}\n\n{data.get('commit_message') or issue.title}"
    )
    parents = [base] if data.get("merge_method") == "squash" else [base, pull.head_sha]
    sha = await in_thread(git.write_commit, tree, parents, message)
    if not await in_thread(git.set_ref, name, sha, base):
        raise ApiError(409, "Base branch was modified. Review and try the merge again.")
    pull.merged, pull.merged_by, pull.merge_sha = now(), doer.who, sha
    await moved(box, doer.actor, repo, name, base, sha)
    doer.set_state(issue, "closed")
    if pull.base == repo.default_branch:
        _close_what_it_names(doer, issue)
    return sha


def _close_what_it_names(doer: Deeds, issue: Issue) -> None:
    """`Closes #3` in the text of a pull request closes that issue with the merge."""
    for number in dict.fromkeys(int(found) for found in _CLOSES.findall(issue.body)):
        named = doer.repo.issues.get(number)
        if named is not None and named.pull is None and named.state == "open":
            doer.set_state(named, "closed")
