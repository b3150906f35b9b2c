"""What can be done to issues and comments, with permissions and webhooks: for REST and pages."""

from __future__ import annotations

from typing import Any

from app.playground.box import Actor, Box
from app.playground.errors import ApiError, forbidden, invalid
from app.playground.responses import EMOJI
from app.playground.state import Comment, Event, Issue, Json, Label, Reaction, Repo, User, now

LONGEST = 65536


class Deeds:
    """The deeds of one actor in one repository."""

    def __init__(self, box: Box, actor: Actor, repo: Repo) -> None:
        if actor.user is None:
            raise ApiError(401, "Requires authentication")
        self.box, self.repo, self.actor = box, repo, actor
        self.who: User = actor.user
        self.via_app = actor.kind == "installation"

    # helpers

    def may(self, role: str) -> bool:
        """Whether the actor has at least this role."""
        return self.box.may(self.actor, self.repo, role)

    def need(self, role: str, author: User | None = None) -> None:
        """Raise 403 unless the role is there, or the actor wrote it."""
        if self.who is not author and not self.may(role):
            raise forbidden(self.actor.is_app)

    def tell(self, event: str, action: str | None, **more: Any) -> None:
        """Send a webhook about this repository."""
        world, show = self.box.world, self.box.show
        installation = world.installation_of(self.repo.owner, self.box.config.app_id)
        if installation is None:
            return
        payload: Json = {"action": action} if action else {}
        payload.update(more)
        payload["repository"] = show.repo(self.repo)
        if self.repo.owner in world.orgs:
            payload["organization"] = show.short_org(world.orgs[self.repo.owner])
        payload["sender"] = show.user(self.who)
        payload["installation"] = {"id": installation.id, "node_id": f"I_{installation.id}"}
        self.box.hooks.send(event, payload)

    def tell_issue(self, issue: Issue, action: str, **more: Any) -> None:
        """The webhook of a change to an issue or a pull request."""
        if issue.pull is None:
            self.tell("issues", action, issue=self.box.show.issue(self.repo, issue), **more)
            return
        from app.playground.responses_pulls import pull_json

        data = pull_json(self.box, self.repo, issue)
        self.tell("pull_request", action, number=issue.number, pull_request=data, **more)

    def tell_comment(self, issue: Issue, comment: Comment, action: str, **more: Any) -> None:
        """The webhook of a comment."""
        show = self.box.show
        data = show.comment(self.repo, issue, comment)
        about = show.issue(self.repo, issue)
        self.tell("issue_comment", action, issue=about, comment=data, **more)

    def note(self, issue: Issue, kind: str, text: str = "") -> None:
        """A line in the timeline; the issue counts as updated."""
        issue.events.append(Event(self.box.world.new_id(), self.who, kind, text))
        issue.updated = now()

    # issues

    def open_issue(self, title: str, body: str, labels: list[str], people: list[User]) -> Issue:
        """Open an issue; labels and assignees count only from triage on."""
        issue = self.new_issue(title, body)
        self.tell_issue(issue, "opened")
        if self.may("triage"):
            self.add_labels(issue, labels)
            self.assign(issue, people)
        return issue

    def new_issue(self, title: str, body: str) -> Issue:
        """Number it and put it on the list; no webhook yet."""
        if not title.strip():
            raise invalid("Issue", "title", "missing_field")
        _check_length("Issue", body)
        number = self.repo.next_number
        issue = Issue(self.box.world.new_id(), number, self.who, title.strip(), body, self.via_app)
        self.repo.next_number += 1
        self.repo.issues[number] = issue
        return issue

    def edit_issue(self, issue: Issue, title: str | None, body: str | None) -> None:
        """Change title or text: the author, or triage and up."""
        self.need("triage", issue.user)
        _check_length("Issue", body or "")
        if title is not None and not title.strip():
            raise invalid("Issue", "title", "missing_field")
        changes: Json = {}
        if title is not None and title != issue.title:
            changes["title"] = {"from": issue.title}
            self.note(issue, "renamed", f"{issue.title} → {title}")
            issue.title = title
        if body is not None and body != issue.body:
            changes["body"] = {"from": issue.body}
            issue.body, issue.edited = body, True
        if changes:
            issue.updated = now()
            self.tell_issue(issue, "edited", changes=changes)

    def set_state(self, issue: Issue, state: str, reason: str | None = None) -> None:
        """Close or open again: the author, or triage and up."""
        self.need("triage", issue.user)
        if state not in ("open", "closed"):
            raise invalid("Issue", "state")
        if state == issue.state:
            return
        issue.state = state
        issue.closed = now() if state == "closed" else None
        issue.closed_by = self.who if state == "closed" else None
        issue.state_reason = (reason or "completed") if state == "closed" else "reopened"
        self.note(issue, "closed" if state == "closed" else "reopened")
        self.tell_issue(issue, "closed" if state == "closed" else "reopened")

    def delete_issue(self, issue: Issue) -> None:
        """Gone for good: admins only."""
        self.need("admin")
        del self.repo.issues[issue.number]
        self.repo.gone.add(issue.number)
        self.tell_issue(issue, "deleted")

    def transfer(self, issue: Issue, target: Repo) -> Issue:
        """Move it to another repository: write in both."""
        self.need("write")
        there = Deeds(self.box, self.actor, target)
        there.need("write")
        moved = Deeds(self.box, Actor("user", issue.user), target).new_issue(
            issue.title, issue.body
        )
        moved.comments, moved.events = list(issue.comments), list(issue.events)
        show = self.box.show
        changes = {"new_issue": show.issue(target, moved), "new_repository": show.repo(target)}
        del self.repo.issues[issue.number]
        self.repo.gone.add(issue.number)
        self.tell_issue(issue, "transferred", changes=changes)
        return moved

    # labels and people

    def ensure_label(self, name: str) -> Label:
        """The repository's label with this name; made if it is not there."""
        found = self.repo.label(name)
        if found is None:
            found = Label(self.box.world.new_id(), name)
            self.repo.labels[name.lower()] = found
        return found

    def add_labels(self, issue: Issue, names: list[str]) -> None:
        """Put labels on, with one webhook each: triage and up."""
        self.need("triage")
        for name in names:
            label = self.ensure_label(name)
            if label.name not in issue.labels:
                issue.labels.append(label.name)
                self.note(issue, "labeled", label.name)
                self.tell_issue(issue, "labeled", label=self.box.show.label(self.repo, label))

    def remove_label(self, issue: Issue, name: str) -> None:
        """Take a label off: triage and up."""
        self.need("triage")
        label = self.repo.label(name)
        if label is None or label.name not in issue.labels:
            raise ApiError(404, "Label does not exist")
        issue.labels.remove(label.name)
        self.note(issue, "unlabeled", label.name)
        self.tell_issue(issue, "unlabeled", label=self.box.show.label(self.repo, label))

    def set_labels(self, issue: Issue, names: list[str]) -> None:
        """Exactly these labels."""
        wanted = {name.lower() for name in names}
        for name in [n for n in issue.labels if n.lower() not in wanted]:
            self.remove_label(issue, name)
        self.add_labels(issue, names)

    def assign(self, issue: Issue, people: list[User]) -> None:
        """Put people on it: triage and up."""
        self.need("triage")
        for user in people:
            if user not in issue.assignees:
                issue.assignees.append(user)
                self.note(issue, "assigned", user.login)
                self.tell_issue(issue, "assigned", assignee=self.box.show.user(user))

    def unassign(self, issue: Issue, people: list[User]) -> None:
        """Take people off it."""
        self.need("triage")
        for user in people:
            if user in issue.assignees:
                issue.assignees.remove(user)
                self.note(issue, "unassigned", user.login)
                self.tell_issue(issue, "unassigned", assignee=self.box.show.user(user))

    # comments

    def comment(self, issue: Issue, body: str) -> Comment:
        """Say something: anybody who can read."""
        if not body.strip():
            raise invalid("IssueComment", "body", "missing_field", "body can't be blank")
        _check_length("IssueComment", body)
        comment = Comment(self.box.world.new_id(), self.who, body, self.via_app)
        issue.comments.append(comment)
        issue.updated = now()
        self.tell_comment(issue, comment, "created")
        return comment

    def edit_comment(self, issue: Issue, comment: Comment, body: str) -> None:
        """Change a comment: its author, or write and up."""
        self.need("write", comment.user)
        if not body.strip():
            raise invalid("IssueComment", "body", "missing_field", "body can't be blank")
        _check_length("IssueComment", body)
        before, comment.body, comment.edited = comment.body, body, True
        comment.updated = now()
        self.tell_comment(issue, comment, "edited", changes={"body": {"from": before}})

    def delete_comment(self, issue: Issue, comment: Comment) -> None:
        """Take a comment away: its author, or write and up."""
        self.need("write", comment.user)
        issue.comments.remove(comment)
        self.tell_comment(issue, comment, "deleted")

    def react(self, reactions: list[Reaction], content: str) -> tuple[Reaction, bool]:
        """Give an emoji: (it, whether it is new). Each user has each emoji once."""
        if content not in EMOJI:
            raise invalid("Reaction", "content")
        for reaction in reactions:
            if reaction.user is self.who and reaction.content == content:
                return reaction, False
        fresh = Reaction(self.box.world.new_id(), self.who, content)
        reactions.append(fresh)
        return fresh, True

    def unreact(self, reactions: list[Reaction], reaction_id: int) -> None:
        """Take an emoji back: one's own, or admin."""
        for reaction in reactions:
            if reaction.id == reaction_id:
                self.need("admin", reaction.user)
                reactions.remove(reaction)
                return
        raise ApiError(404, "Not Found")


def _check_length(resource: str, body: str) -> None:
    if len(body) > LONGEST:
        message = f"body is too long (maximum is {LONGEST} characters)"
        raise invalid(resource, "body", "custom", message)
