"""Landlock: the kernel lets a process touch only the files that it was given beforehand.

Bare system calls through ctypes, nothing but the standard library: it also runs inside the
sandbox. Knows the interface up to version 7 (Linux 6.15). What it cannot stop: changes of mode,
owner, times and extended attributes, UDP, and Unix sockets that have a path.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable

NEWEST = 7
"""The last version of the interface that is known here."""

EXECUTE = 1 << 0
WRITE_FILE = 1 << 1
READ_FILE = 1 << 2
READ_DIR = 1 << 3
REMOVE_DIR = 1 << 4
REMOVE_FILE = 1 << 5
MAKE_DIR = 1 << 7
MAKE_REG = 1 << 8
MAKE_SOCK = 1 << 9
MAKE_FIFO = 1 << 10
MAKE_SYM = 1 << 12
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEV = 1 << 15

READ = EXECUTE | READ_FILE | READ_DIR
"""Read, list and start."""
WRITE = (
    READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG
    | MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE
)  # fmt: skip
"""Everything but making devices."""
DEVICE = READ_FILE | WRITE_FILE | IOCTL_DEV
"""Use what is there, make nothing."""

_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_FILES = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_BIND_TCP, _CONNECT_TCP = 1 << 0, 1 << 1
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH, _NET_PORT = 1, 2
_PR_SET_NO_NEW_PRIVS = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _NetPort(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64), ("port", ctypes.c_uint64))


def abi() -> int:
    """The version of the interface, at most the newest known here; 0 if there is none."""
    if sys.platform != "linux":
        return 0
    version = _call(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, min(version, NEWEST))


def restrict(
    rules: Iterable[tuple[str, int]], ports: Iterable[int] | None, version: int | None = None
) -> None:
    """Confine this thread, and all that it starts, for good.

    `rules` are paths and what may be done at and below them; a path that does not exist is left
    out. `ports` are the TCP ports it may connect to; None leaves TCP alone. An older kernel gets
    as much of it as it knows. Raises `OSError`.
    """
    version = abi() if version is None else version
    files = _FILES[max(known for known in _FILES if known <= max(version, 1))]
    ruleset = _made(files, ports is not None, version)
    try:
        for path, access in rules:
            _allow(ruleset, path, access & files)
        if version >= 4:
            for port in ports or ():
                rule = _NetPort(_CONNECT_TCP, port)
                _checked(_call(_ADD_RULE, ruleset, _NET_PORT, ctypes.byref(rule), 0))
        no_new_privileges()
        _checked(_call(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def no_new_privileges() -> None:
    """No program that is started from here on gains anything by its set-user-id bit."""
    _checked(int(ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)))


def _made(files: int, tcp: bool, version: int) -> int:
    attributes = _Ruleset(files, 0, 0)
    size = 8
    if version >= 4:
        attributes.net = _BIND_TCP | _CONNECT_TCP if tcp else 0
        size = 16
    if version >= 6:
        attributes.scoped = _ABSTRACT_SOCKETS | _SIGNALS
        size = 24
    return _checked(_call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), 0))


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there, or hidden: then there is nothing to allow
        return
    try:
        if not stat.S_ISDIR(os.fstat(parent).st_mode):
            access &= _OF_FILES
        rule = _PathBeneath(access, parent)
        _checked(_call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(parent)


def _call(*arguments: object) -> int:
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return int(syscall(*arguments))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
