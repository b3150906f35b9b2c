"""Small programs that try what an agent must not: `attacks_kernel.py NAME`, inside a sandbox.

Each says WORKED if it did, else how it was stopped. Needs nothing but the standard library. What
there is to attack is told in variables, see `World` in `test_sandbox.py`.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
BOTH_STOP: dict[str, Callable[[], object]] = {}
"""Each wall stops these alone."""
BWRAP_STOPS: dict[str, Callable[[], object]] = {}
"""Landlock alone lets them through."""
LANDLOCK_STOPS: dict[str, Callable[[], object]] = {}
"""bubblewrap alone lets them through."""
UNSAFE: set[str] = set()
"""Not to be tried without walls: they touch the machine, or do not work there either."""
WORKTREE, MIRROR, OUTSIDE, SECRET = (
    Path(os.environ.get(name, "/nowhere")) for name in ("WORKTREE", "MIRROR", "OUTSIDE", "SECRET")
)
DEPLOY = WORKTREE / "k8s/deploy.yaml"


def stopped_by(
    attacks: dict[str, Callable[[], object]], unsafe: bool = False
) -> Callable[..., object]:
    def listed(attack: Callable[[], object]) -> Callable[[], object]:
        attacks[attack.__name__] = attack
        if unsafe:
            UNSAFE.add(attack.__name__)
        return attack

    return listed


either, bwrap, landlock = (stopped_by(one) for one in (BOTH_STOP, BWRAP_STOPS, LANDLOCK_STOPS))
machine = stopped_by(BOTH_STOP, unsafe=True)


def number(name: str) -> int:
    return int(os.environ[name])


def succeeded(result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def spoil(path: Path | str) -> None:
    with open(path, "a") as file:
        file.write("evil\n")


@either
def writes_beside_its_scope() -> None:
    (WORKTREE / "k8s/evil.yaml").write_text("evil")


@either
def changes_beside_its_scope() -> None:
    spoil(DEPLOY)


@either
def empties_beside_its_scope() -> None:
    os.truncate(DEPLOY, 0)


@either
def deletes_beside_its_scope() -> None:
    DEPLOY.unlink()


@either
def makes_a_folder_beside_its_scope() -> None:
    (WORKTREE / "evil").mkdir()


@either
def writes_above() -> None:
    Path(WORKTREE / "src/../../evil").write_text("evil")


@either
def writes_a_hook() -> None:
    (MIRROR / "hooks/post-commit").write_text("#!/bin/sh\n")


@either
def writes_a_hook_of_the_worktree() -> None:
    admin = Path((WORKTREE / ".git").read_text().split()[1])
    (admin / "config.worktree").write_text("[core]\nhooksPath = /tmp\n")


@either
def changes_git_config() -> None:
    spoil(MIRROR / "config")


@either
def changes_a_branch() -> None:
    spoil(MIRROR / "refs/heads/main")


@either
def changes_the_git_file() -> None:
    spoil(WORKTREE / ".git")


@either
def replaces_the_git_file() -> None:
    (WORKTREE / "src/git").write_text("gitdir: /tmp")
    (WORKTREE / "src/git").rename(WORKTREE / ".git")


@either
def reads_hooks_of_the_mirror() -> None:
    (MIRROR / "hooks/secret").read_text()


@either
def changes_the_scopes() -> None:
    spoil(WORKTREE / ".github/AGENT_SCOPES")


@either
def goes_through_a_link_of_its_own() -> None:
    (WORKTREE / "src/mine").symlink_to("../k8s")
    spoil(WORKTREE / "src/mine/deploy.yaml")


@either
def goes_through_a_link_of_the_repository() -> None:
    spoil(WORKTREE / "src/link/deploy.yaml")


@either
def renames_out_of_its_scope() -> None:
    (WORKTREE / "src/a.py").rename(WORKTREE / "k8s/a.py")


@either
def renames_into_its_scope() -> None:
    DEPLOY.rename(WORKTREE / "src/deploy.yaml")


@either
def renames_its_scope() -> None:
    (WORKTREE / "src").rename(WORKTREE / "k8s2")


@either
def links_into_its_scope() -> None:
    os.link(DEPLOY, WORKTREE / "src/deploy.yaml")
    spoil(WORKTREE / "src/deploy.yaml")


@either
def links_out_of_its_scope() -> None:
    os.link(WORKTREE / "src/a.py", WORKTREE / "k8s/a.py")


@either
def goes_through_its_root() -> None:
    spoil(f"/proc/self/root{DEPLOY}")


@either
def goes_through_its_directory() -> None:
    os.chdir(WORKTREE)
    spoil("/proc/self/cwd/k8s/deploy.yaml")


@either
def goes_through_the_root_of_the_service() -> None:
    spoil(f"/proc/{number('PARENT')}/root{DEPLOY}")


@either
def uses_a_shell() -> None:
    subprocess.run(["/bin/sh", "-c", f"echo evil >> {DEPLOY}"], check=True)


@either
def uses_git() -> None:
    subprocess.run(["git", "-C", str(WORKTREE), "config", "core.pager", "evil"], check=True)


@either
def reads_the_environment_of_the_service() -> None:
    Path(f"/proc/{number('PARENT')}/environ").read_bytes()


@either
def reads_a_key() -> None:
    (SECRET / "key.pem").read_text()


@either
def lists_the_data_of_the_service() -> None:
    os.listdir(SECRET)


@either
def reads_the_home_of_the_service() -> None:
    (Path(os.environ["SERVICE_HOME"]) / ".netrc").read_text()


@either
def reads_another_worktree() -> None:
    (OUTSIDE / "other/README.md").read_text()


@machine
def reads_passwords() -> None:
    Path("/etc/shadow").read_text()


@machine
def mounts() -> None:
    succeeded(LIBC.mount(b"none", str(WORKTREE / "k8s").encode(), b"tmpfs", 0, None))


@machine
def makes_namespaces() -> None:
    succeeded(LIBC.unshare(0x10000000 | 0x20000))


@machine
def clones_namespaces() -> None:
    succeeded(LIBC.syscall(56 if os.uname().machine == "x86_64" else 220, 0x10000011, 0, 0, 0, 0))


@machine
def changes_its_root() -> None:
    os.chroot(WORKTREE)


@machine
def traces_the_service() -> None:
    succeeded(LIBC.ptrace(16, number("PARENT"), None, None))


@machine
def reads_memory() -> None:
    Path("/dev/mem").read_bytes()


@machine
def reads_disks() -> None:
    found = [path for path in Path("/dev").iterdir() if path.is_block_device()]
    if not found:
        raise PermissionError("there is none")
    os.close(os.open(found[0], os.O_RDONLY))


@machine
def makes_a_device() -> None:
    os.mknod(WORKTREE / "src/null", 0o20666, os.makedev(1, 3))


@machine
def keeps_a_key_in_the_kernel() -> None:
    succeeded(
        LIBC.syscall(248 if os.uname().machine == "x86_64" else 217, b"user", b"n", b"v", 1, -3)
    )


@machine
def goes_out() -> None:
    socket.create_connection(("192.0.2.1", 443), timeout=1)


@either
def signals_the_service() -> None:
    os.kill(number("PARENT"), 0)


@either
def reaches_another_port() -> None:
    socket.create_connection(("127.0.0.1", number("OTHER_PORT")), timeout=5)


@either
def reaches_an_abstract_socket() -> None:
    socket.socket(socket.AF_UNIX).connect("\0" + os.environ["ABSTRACT"])


@bwrap
def reaches_redis_by_its_socket() -> None:
    socket.socket(socket.AF_UNIX).connect(os.environ["REDIS_SOCKET"])


@bwrap
def sends_udp() -> None:
    """It has to arrive: within a private network it is sent to nobody."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(0.5)
        one.sendto(b"evil", ("127.0.0.1", number("UDP_PORT")))
        one.recv(10)


@bwrap
def changes_a_mode() -> None:
    DEPLOY.chmod(0o777)


@bwrap
def changes_an_owner() -> None:
    os.chown(DEPLOY, os.getuid(), os.getgid())


@bwrap
def changes_times() -> None:
    os.utime(DEPLOY, (0, 0))


@bwrap
def changes_attributes() -> None:
    os.setxattr(DEPLOY, "user.evil", b"1")


@landlock
def reads_its_own_environment() -> None:
    Path("/proc/self/environ").read_bytes()


@landlock
def reads_what_proc_tells() -> None:
    Path("/proc/mounts").read_text()


ALL = BOTH_STOP | BWRAP_STOPS | LANDLOCK_STOPS

if __name__ == "__main__":
    try:
        ALL[sys.argv[1]]()
    except (OSError, subprocess.CalledProcessError) as error:
        print("stopped", error)
    else:
        print("WORKED")
