"""Pull requests, reviews and check runs as GitHub's JSON."""

from __future__ import annotations

from app.playground.box import Box
from app.playground.git import Git
from app.playground.git_diff import changed_files, commits_between, merge_base, merged_tree
from app.playground.protection import obstacle
from app.playground.responses_people import node, stamp
from app.playground.state import Issue, Json, Repo
from app.playground.state_pulls import CheckRun, Pull, Review, ReviewComment


def pull_of(issue: Issue) -> Pull:
    """The pull request's part of an issue that is one."""
    if issue.pull is None:
        raise ValueError(f"#{issue.number} is not a pull request")
    return issue.pull


def _side(box: Box, repo: Repo, branch: str, sha: str) -> Json:
    """`head` or `base`."""
    return {
        "label": f"{repo.owner}:{branch}",
        "ref": branch,
        "sha": sha,
        "user": box.show.owner(repo.owner),
        "repo": box.show.repo(repo),
    }


def simple_pull(box: Box, repo: Repo, issue: Issue) -> Json:
    """A pull request as lists show it."""
    pull, about = pull_of(issue), box.show.issue(repo, issue)
    root = f"{box.config.api_url}/repos/{repo.full_name}"
    url, page = f"{root}/pulls/{issue.number}", about["html_url"]
    as_issue = f"{root}/issues/{issue.number}"
    links = {
        "self": url,
        "html": page,
        "issue": as_issue,
        "comments": f"{as_issue}/comments",
        "review_comments": f"{url}/comments",
        "review_comment": f"{root}/pulls/comments{{/number}}",
        "commits": f"{url}/commits",
        "statuses": f"{root}/statuses/{pull.head_sha}",
    }
    names = (
        "number state title user body labels assignee assignees milestone locked comments"
        " active_lock_reason closed_at created_at updated_at author_association"
    )
    return {
        **{name: about[name] for name in names.split()},
        **{f"{name}_url": link for name, link in links.items() if name not in ("self", "html")},
        "id": pull.id,
        "node_id": node("PR", pull.id),
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "draft": pull.draft,
        "merged_at": stamp(pull.merged),
        "merge_commit_sha": pull.merge_sha,
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _side(box, repo, pull.head, pull.head_sha),
        "base": _side(box, repo, pull.base, pull.base_sha),
        "_links": {name: {"href": link} for name, link in links.items()},
        "auto_merge": None,
    }


def pull_json(box: Box, repo: Repo, issue: Issue) -> Json:
    """A pull request with its numbers. Blocking: asks git."""
    pull, git = pull_of(issue), box.git(repo)
    common = merge_base(git, pull.base_sha, pull.head_sha) or pull.base_sha
    files = changed_files(git, common, pull.head_sha)
    merged_by = box.show.user(pull.merged_by) if pull.merged_by else None
    mergeable, state = _mergeable(git, repo, pull)
    return {
        **simple_pull(box, repo, issue),
        "merged": pull.merged is not None,
        "mergeable": mergeable,
        "rebaseable": None,
        "mergeable_state": state,
        "merged_by": merged_by,
        "review_comments": len(pull.comments),
        "maintainer_can_modify": False,
        "commits": len(commits_between(git, common, pull.head_sha)),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }


def _mergeable(git: Git, repo: Repo, pull: Pull) -> tuple[bool | None, str]:
    """`mergeable` and `mergeable_state`."""
    base = git.ref(f"refs/heads/{pull.base}")
    if pull.merged or base is None:
        return None, "unknown"
    if merged_tree(git, base, pull.head_sha) is None:
        return False, "dirty"
    if pull.draft:
        return True, "draft"
    return True, "blocked" if obstacle(repo, pull) else "clean"


def thread_node(first: ReviewComment) -> str:
    """The GraphQL id of the thread that a comment begins."""
    return node("PRRT", first.id)


def review_json(box: Box, repo: Repo, issue: Issue, review: Review) -> Json:
    """A review."""
    page = f"{box.show.issue_page(repo, issue)}#pullrequestreview-{review.id}"
    pull = f"{box.config.api_url}/repos/{repo.full_name}/pulls/{issue.number}"
    return {
        "id": review.id,
        "node_id": node("PRR", review.id),
        "user": box.show.user(review.user),
        "body": review.body,
        "state": review.state,
        "html_url": page,
        "pull_request_url": pull,
        "_links": {"html": {"href": page}, "pull_request": {"href": pull}},
        "submitted_at": stamp(review.submitted),
        "commit_id": review.commit,
        "author_association": box.show.association(repo, review.user),
    }


def review_comment_json(box: Box, repo: Repo, issue: Issue, comment: ReviewComment) -> Json:
    """A comment on a line."""
    root = f"{box.config.api_url}/repos/{repo.full_name}/pulls"
    url, pull = f"{root}/comments/{comment.id}", f"{root}/{issue.number}"
    page = f"{box.show.issue_page(repo, issue)}#discussion_r{comment.id}"
    data: Json = {
        "id": comment.id,
        "node_id": node("PRRC", comment.id),
        "url": url,
        "html_url": page,
        "pull_request_url": pull,
        "pull_request_review_id": comment.review_id,
        "diff_hunk": "@@",
        "path": comment.path,
        "line": comment.line,
        "side": comment.side,
        "commit_id": comment.commit,
        "original_commit_id": comment.commit,
        "user": box.show.user(comment.user),
        "body": comment.body,
        "created_at": stamp(comment.created),
        "updated_at": stamp(comment.updated),
        "author_association": box.show.association(repo, comment.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull}},
        "reactions": box.show.rollup(url, comment.reactions),
    }
    if comment.reply_to is not None:
        data["in_reply_to_id"] = comment.reply_to
    return data


def check_json(box: Box, repo: Repo, check: CheckRun) -> Json:
    """A check run."""
    url = f"{box.config.api_url}/repos/{repo.full_name}/check-runs/{check.id}"
    page = f"{box.config.web_url}/{repo.full_name}/runs/{check.id}"
    output = {
        "title": check.output.get("title"),
        "summary": check.output.get("summary"),
        "text": check.output.get("text"),
        "annotations_count": len(check.annotations),
        "annotations_url": f"{url}/annotations",
    }
    return {
        "id": check.id,
        "name": check.name,
        "node_id": node("CR", check.id),
        "head_sha": check.head_sha,
        "external_id": check.external_id,
        "url": url,
        "html_url": page,
        "details_url": check.details_url or page,
        "status": check.status,
        "conclusion": check.conclusion,
        "started_at": stamp(check.started),
        "completed_at": stamp(check.completed),
        "output": output,
        "check_suite": {"id": check.suite},
        "app": box.show.app(),
        "pull_requests": [],
    }
