"""What git may see and do: the environment and the configuration of every git of ours."""

from __future__ import annotations

from collections.abc import Mapping

FROM_US = frozenset({"PATH", "TMPDIR", "TZ", "LD_LIBRARY_PATH"})
"""Variables of ours that git may see."""
FOR_THE_NETWORK = frozenset(
    "HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY https_proxy http_proxy all_proxy no_proxy "
    "SSL_CERT_FILE SSL_CERT_DIR GIT_SSL_CAINFO GIT_SSL_CAPATH".split()
)
"""And those that it may see when it talks to the remote."""

ENVIRONMENT: Mapping[str, str] = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a ref could otherwise show another commit than the one named
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
"""What every git of ours sees."""

_LENIENT = (
    "badTimezone", "badDate", "badEmail", "badName", "missingEmail", "missingNameBeforeEmail",
    "missingSpaceBeforeDate", "missingSpaceBeforeEmail", "missingTaggerEntry", "multipleAuthors",
    "nullSha1", "zeroPaddedDate", "zeroPaddedFilemode",
)  # fmt: skip
_STRICT = ("hasDot", "hasDotdot", "hasDotgit", "fullPathname")

CONFIG: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.pager": "cat",
    "core.editor": "false",
    "core.askPass": "false",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "",
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    # A link is checked out as one: a text file in its place would come back as a changed one.
    # Neither git nor we follow links; `app.execution.diff` judges where each of them leads.
    "core.symlinks": "true",
    "core.fileMode": "true",
    "core.ignoreCase": "false",
    "core.trustctime": "true",  # nobody can set it back, so a touched file is always looked at
    "core.checkStat": "default",
    "core.autocrlf": "false",
    "core.splitIndex": "false",
    "core.sparseCheckout": "false",
    "core.logAllRefUpdates": "false",
    "core.bigFileThreshold": "64m",
    "credential.helper": "",
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "diff.ignoreSubmodules": "all",  # else git runs in a folder that an agent has written
    "filter.lfs.smudge": "",
    "filter.lfs.clean": "",
    "filter.lfs.process": "",
    "filter.lfs.required": "false",
    "commit.gpgSign": "false",
    "push.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "safe.directory": "*",
    "safe.bareRepository": "explicit",
    "advice.detachedHead": "false",
    "protocol.allow": "never",
    "protocol.file.allow": "never",
    "http.followRedirects": "false",  # a token must not go where a redirect leads
    "http.sslVerify": "true",
    "http.cookieFile": "",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "60",
    # All that comes in is checked. Old tools wrote dates, names and modes that the check calls
    # errors: thousands of real repositories have them, and they harm nobody.
    "transfer.fsckObjects": "true",
    **{f"fetch.fsck.{name}": "ignore" for name in _LENIENT},
    **{f"fsck.{name}": "ignore" for name in _LENIENT},
    **{f"fetch.fsck.{name}": "error" for name in _STRICT},
}
"""Above every configuration file, because it comes by the environment."""
