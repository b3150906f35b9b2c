"""Records as GitHub's JSON: repositories, issues, comments, the App."""

from __future__ import annotations

from collections import Counter

from app.playground.config import GivenApp
from app.playground.responses_people import People, node, stamp
from app.playground.state import (
    Comment,
    Installation,
    Issue,
    Json,
    Label,
    Reaction,
    Repo,
    visible,
)

PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "members": "read",
    "metadata": "read",
    "pull_requests": "write",
}
EVENTS = [
    *("check_run", "issue_comment", "issues", "label", "pull_request", "pull_request_review"),
    *("pull_request_review_comment", "push"),
]
EMOJI = dict(
    zip(
        ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"),
        ("👍", "👎", "😄", "🎉", "😕", "❤️", "🚀", "👀"),
        strict=True,
    )
)
_REPO_LINKS = (
    *("assignees", "branches", "collaborators", "comments", "commits", "contributors"),
    *("deployments", "downloads", "events", "forks", "hooks", "issues", "keys", "labels"),
    *("languages", "merges", "milestones", "notifications", "pulls", "releases", "stargazers"),
    *("subscribers", "subscription", "tags", "teams"),
)


class Responses(People):
    """Makes JSON of everything but git's objects and pull requests."""

    # repositories

    def repo(self, repo: Repo) -> Json:
        """A repository as most answers and all webhooks carry it."""
        api, web = f"{self.api}/repos/{repo.full_name}", f"{self.web}/{repo.full_name}"
        git = ("blobs", "git_refs", "git_tags", "git_commits", "statuses", "trees")
        special = {"git_refs": "git/refs", "git_tags": "git/tags", "git_commits": "git/commits"}
        count = sum(issue.state == "open" for issue in repo.issues.values())
        return {
            "id": repo.id,
            "node_id": node("R", repo.id),
            "name": repo.name,
            "full_name": repo.full_name,
            "owner": self.owner(repo.owner),
            "private": repo.private,
            "visibility": "private" if repo.private else "public",
            "html_url": web,
            "description": repo.description,
            "fork": False,
            "url": api,
            **{f"{name}_url": f"{api}/{name}" for name in _REPO_LINKS},
            **{f"{name}_url": f"{api}/{special.get(name, name)}{{/sha}}" for name in git},
            "archive_url": f"{api}/{{archive_format}}{{/ref}}",
            "compare_url": f"{api}/compare/{{base}}...{{head}}",
            "contents_url": f"{api}/contents/{{+path}}",
            "issue_comment_url": f"{api}/issues/comments{{/number}}",
            "issue_events_url": f"{api}/issues/events{{/number}}",
            "git_url": f"{web}.git",
            "ssh_url": f"{web}.git",
            "clone_url": f"{web}.git",
            "svn_url": web,
            **dict.fromkeys(("mirror_url", "homepage", "license"), None),
            "language": "Python",
            "forks_count": 0,
            "stargazers_count": 0,
            "watchers_count": 0,
            "size": 1,
            "default_branch": repo.default_branch,
            "open_issues_count": count,
            "is_template": False,
            "topics": [],
            **dict.fromkeys(("has_issues", "has_projects", "has_wiki"), True),
            **dict.fromkeys(("has_pages", "has_discussions", "has_downloads"), False),
            **dict.fromkeys(("archived", "disabled"), False),
            "allow_forking": True,
            "web_commit_signoff_required": False,
            "pushed_at": stamp(repo.pushed),
            "created_at": stamp(repo.created),
            "updated_at": stamp(repo.pushed),
            "forks": 0,
            "open_issues": count,
            "watchers": 0,
        }

    def full_repo(self, repo: Repo) -> Json:
        """A repository's own page in the API."""
        return {**self.repo(repo), "subscribers_count": 0, "network_count": 0}

    def label(self, repo: Repo, label: Label) -> Json:
        """A label."""
        return {
            "id": label.id,
            "node_id": node("LA", label.id),
            "url": f"{self.api}/repos/{repo.full_name}/labels/{label.name}",
            "name": label.name,
            "color": label.color,
            "default": False,
            "description": label.description,
            "archived_at": None,
            "archived_by": None,
        }

    # issues

    def rollup(self, url: str, reactions: list[Reaction]) -> Json:
        """How often each reaction was given."""
        counts = Counter(reaction.content for reaction in reactions)
        every = {content: counts[content] for content in EMOJI}
        return {"url": f"{url}/reactions", "total_count": len(reactions), **every}

    def reaction(self, reaction: Reaction) -> Json:
        """One reaction."""
        return {
            "id": reaction.id,
            "node_id": node("REA", reaction.id),
            "user": self.user(reaction.user),
            "content": reaction.content,
            "created_at": stamp(reaction.created),
        }

    def issue_page(self, repo: Repo, issue: Issue) -> str:
        """Where people look at it."""
        kind = "pull" if issue.pull else "issues"
        return f"{self.web}/{repo.full_name}/{kind}/{issue.number}"

    def issue(self, repo: Repo, issue: Issue) -> Json:
        """An issue (or a pull request as an issue)."""
        root = f"{self.api}/repos/{repo.full_name}"
        url = f"{root}/issues/{issue.number}"
        links = ("labels", "comments", "events", "timeline")
        people = [self.user(user) for user in issue.assignees]
        labels = (repo.label(name) for name in issue.labels)
        data = {
            "id": issue.id,
            "node_id": node("PR" if issue.pull else "I", issue.id),
            "url": url,
            "repository_url": root,
            **{f"{name}_url": f"{url}/{name}" for name in links},
            "labels_url": f"{url}/labels{{/name}}",
            "html_url": self.issue_page(repo, issue),
            "number": issue.number,
            "state": issue.state,
            "state_reason": issue.state_reason,
            "title": issue.title,
            "body": issue.body or None,
            "user": self.user(issue.user),
            "labels": [self.label(repo, label) for label in labels if label],
            "assignee": people[0] if people else None,
            "assignees": people,
            "milestone": None,
            "locked": False,
            "active_lock_reason": None,
            "comments": len(visible(issue.comments)),
            "closed_at": stamp(issue.closed),
            "closed_by": self.user(issue.closed_by) if issue.closed_by else None,
            "created_at": stamp(issue.created),
            "updated_at": stamp(issue.updated),
            "author_association": self.association(repo, issue.user),
            "reactions": self.rollup(url, issue.reactions),
            "performed_via_github_app": self._through(issue),
        }
        if issue.pull:
            pull = f"{root}/pulls/{issue.number}"
            page = self.issue_page(repo, issue)
            data["draft"] = issue.pull.draft
            data["pull_request"] = {
                "url": pull,
                "html_url": page,
                "diff_url": f"{page}.diff",
                "patch_url": f"{page}.patch",
                "merged_at": stamp(issue.pull.merged),
            }
        return data

    def comment(self, repo: Repo, issue: Issue, comment: Comment) -> Json:
        """A comment of an issue."""
        root = f"{self.api}/repos/{repo.full_name}/issues"
        url = f"{root}/comments/{comment.id}"
        return {
            "id": comment.id,
            "node_id": node("IC", comment.id),
            "url": url,
            "html_url": f"{self.issue_page(repo, issue)}#issuecomment-{comment.id}",
            "issue_url": f"{root}/{issue.number}",
            "user": self.user(comment.user),
            "body": comment.body,
            "created_at": stamp(comment.created),
            "updated_at": stamp(comment.updated),
            "author_association": self.association(repo, comment.user),
            "reactions": self.rollup(url, comment.reactions),
            "performed_via_github_app": self._through(comment),
        }

    # the Apps

    def _through(self, written: Issue | Comment) -> Json | None:
        """`performed_via_github_app`."""
        return self.app(self._config.app_of_bot(written.user.login)) if written.via_app else None

    def app(self, given: GivenApp | None = None) -> Json:
        """An App; the first unless another is given."""
        given, first = given or self._config.apps[0], next(iter(self._world.orgs), None)
        slug, bot = given.slug, self._world.users[given.bot]
        return {
            "id": int(given.id),
            "slug": slug,
            "node_id": node("A", given.id),
            "client_id": f"Iv1.playground{given.id}",
            "owner": self.owner(first) if first else self.user(bot),
            "name": slug,
            "description": "The App of the playground",
            "external_url": self.web,
            "html_url": f"{self.web}/apps/{slug}",
            "created_at": stamp(bot.created),
            "updated_at": stamp(bot.created),
            "permissions": PERMISSIONS,
            "events": EVENTS,
        }

    def installation(self, installation: Installation) -> Json:
        """An App on an account."""
        api = f"{self.api}/app/installations/{installation.id}"
        account = self.owner(installation.account)
        given = self._config.app(installation.app) or self._config.apps[0]
        return {
            "id": installation.id,
            "node_id": node("I", installation.id),
            "account": account,
            "repository_selection": "all",
            "access_tokens_url": f"{api}/access_tokens",
            "repositories_url": f"{self.api}/installation/repositories",
            "html_url": f"{self.web}/organizations/{installation.account}/settings/installations",
            "app_id": int(given.id),
            "app_slug": given.slug,
            "target_id": account["id"],
            "target_type": account["type"],
            "permissions": PERMISSIONS,
            "events": EVENTS,
            "created_at": stamp(installation.created),
            "updated_at": stamp(installation.created),
            "single_file_name": None,
            "suspended_by": None,
            "suspended_at": None,
        }
