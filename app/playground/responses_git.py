"""Git objects as GitHub's JSON."""

from __future__ import annotations

import base64

from app.playground.box import Box
from app.playground.git import CommitInfo, Entry, Git, Who
from app.playground.git_diff import Changed
from app.playground.responses_people import node, stamp
from app.playground.state import Json, Repo

_INLINE = 1 << 20
"""Bytes of a file above which GitHub gives its content as a blob only."""
_UNSIGNED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


class GitResponses:
    """Makes JSON about one repository's objects."""

    def __init__(self, box: Box, repo: Repo) -> None:
        self._box, self._repo = box, repo
        self.api = f"{box.config.api_url}/repos/{repo.full_name}"
        self.web = f"{box.config.web_url}/{repo.full_name}"

    def ref(self, name: str, sha: str) -> Json:
        """A reference to a commit."""
        return {
            "ref": name,
            "node_id": node("REF", name),
            "url": f"{self.api}/git/{name}",
            "object": {"type": "commit", "sha": sha, "url": f"{self.api}/git/commits/{sha}"},
        }

    def _who(self, who: Who) -> Json:
        return {"name": who.name, "email": who.email, "date": stamp(who.date)}

    def git_commit(self, info: CommitInfo) -> Json:
        """A commit as the Git database shows it."""
        return {
            "sha": info.sha,
            "node_id": node("C", info.sha),
            "url": f"{self.api}/git/commits/{info.sha}",
            "html_url": f"{self.web}/commit/{info.sha}",
            "author": self._who(info.author),
            "committer": self._who(info.committer),
            "message": info.message,
            "tree": {"sha": info.tree, "url": f"{self.api}/git/trees/{info.tree}"},
            "parents": [self._parent(sha, f"{self.api}/git/commits/{sha}") for sha in info.parents],
            "verification": _UNSIGNED,
        }

    def _parent(self, sha: str, url: str) -> Json:
        return {"sha": sha, "url": url, "html_url": f"{self.web}/commit/{sha}"}

    def _account(self, who: Who) -> Json | None:
        """The user whose address it is."""
        user = self._box.world.user(who.email.partition("@")[0].partition("+")[2])
        return self._box.show.user(user) if user else None

    def commit(self, info: CommitInfo) -> Json:
        """A commit as the repository shows it."""
        url = f"{self.api}/commits/{info.sha}"
        return {
            "sha": info.sha,
            "node_id": node("C", info.sha),
            "url": url,
            "html_url": f"{self.web}/commit/{info.sha}",
            "comments_url": f"{url}/comments",
            "commit": {
                "url": f"{self.api}/git/commits/{info.sha}",
                "author": self._who(info.author),
                "committer": self._who(info.committer),
                "message": info.message,
                "comment_count": 0,
                "tree": {"sha": info.tree, "url": f"{self.api}/git/trees/{info.tree}"},
                "verification": _UNSIGNED,
            },
            "author": self._account(info.author),
            "committer": self._account(info.committer),
            "parents": [self._parent(sha, f"{self.api}/commits/{sha}") for sha in info.parents],
        }

    def hook_commit(self, git: Git, info: CommitInfo) -> Json:
        """A commit as the `push` webhook carries it."""
        from app.playground.git_diff import changed_files

        files = changed_files(git, info.parents[0], info.sha) if info.parents else []
        return {
            "id": info.sha,
            "tree_id": info.tree,
            "distinct": True,
            "message": info.message,
            "timestamp": info.committer.date.isoformat(),
            "url": f"{self.web}/commit/{info.sha}",
            "author": {"name": info.author.name, "email": info.author.email},
            "committer": {"name": info.committer.name, "email": info.committer.email},
            "added": [f.path for f in files if f.status == "added"],
            "removed": [f.path for f in files if f.status == "removed"],
            "modified": [f.path for f in files if f.status not in ("added", "removed")],
        }

    def tree(self, sha: str, entries: list[Entry]) -> Json:
        """A tree."""
        items = []
        for entry in entries:
            item: Json = {
                "path": entry.path,
                "mode": entry.mode,
                "type": entry.kind,
                "sha": entry.sha,
                "url": f"{self.api}/git/{entry.kind}s/{entry.sha}",
            }
            if entry.size is not None:
                item["size"] = entry.size
            items.append(item)
        return {"sha": sha, "url": f"{self.api}/git/trees/{sha}", "truncated": False, "tree": items}

    def blob(self, sha: str, content: bytes) -> Json:
        """A file's content."""
        return {
            "sha": sha,
            "node_id": node("B", sha),
            "size": len(content),
            "url": f"{self.api}/git/blobs/{sha}",
            "content": base64.encodebytes(content).decode(),
            "encoding": "base64",
        }

    def entry(self, entry: Entry, ref: str, content: bytes | None = None) -> Json:
        """What stands at a path; with its content if that is given."""
        kinds = {"tree": "dir", "commit": "submodule"}
        url = f"{self.api}/contents/{entry.path}?ref={ref}"
        git_url = f"{self.api}/git/{entry.kind}s/{entry.sha}"
        where = "tree" if entry.kind == "tree" else "blob"
        html = f"{self.web}/{where}/{ref}/{entry.path}"
        data: Json = {
            "type": "symlink" if entry.mode == "120000" else kinds.get(entry.kind, "file"),
            "size": entry.size or 0,
            "name": entry.path.rpartition("/")[2],
            "path": entry.path,
            "sha": entry.sha,
            "url": url,
            "git_url": git_url,
            "html_url": html,
            "download_url": f"{self.web}/raw/{ref}/{entry.path}" if where == "blob" else None,
            "_links": {"self": url, "git": git_url, "html": html},
        }
        if content is not None:
            small = len(content) <= _INLINE
            data["content"] = base64.encodebytes(content).decode() if small else ""
            data["encoding"] = "base64" if small else "none"
        return data

    def changed(self, file: Changed, head: str) -> Json:
        """A file of a comparison or a pull request."""
        data: Json = {
            "sha": file.sha,
            "filename": file.path,
            "status": file.status,
            "additions": file.additions,
            "deletions": file.deletions,
            "changes": file.additions + file.deletions,
            "blob_url": f"{self.web}/blob/{head}/{file.path}",
            "raw_url": f"{self.web}/raw/{head}/{file.path}",
            "contents_url": f"{self.api}/contents/{file.path}?ref={head}",
        }
        if file.patch:
            data["patch"] = file.patch
        if file.before:
            data["previous_filename"] = file.before
        return data
