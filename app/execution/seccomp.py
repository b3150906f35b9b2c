"""System calls that no agent needs, refused by the kernel: a short filter in its own language.

For what neither mounts nor Landlock keep away: keyrings, tracing, namespaces, io_uring. Runs
inside the sandbox, on x86-64 and arm64; elsewhere there is no filter.
"""

from __future__ import annotations

import ctypes
import errno
import os

_REFUSED: dict[str, tuple[int, ...]] = {
    # ptrace, process_vm_*, kcmp · mount, umount2, pivot_root, chroot, unshare, setns · keyrings
    # · bpf, perf_event_open, userfaultfd, open_by_handle_at, pidfd_getfd · modules, kexec, reboot,
    # swap, clocks, acct, quotactl, syslog · new mount calls · iopl, ioperm
    "x86_64": (
        *(101, 310, 311, 312, 165, 166, 155, 161, 272, 308, 248, 249, 250),
        *(321, 298, 323, 304, 438, 175, 313, 176, 246, 320, 169, 167, 168),
        *(164, 227, 305, 163, 179, 103, 428, 429, 430, 431, 432, 433, 442, 172, 173),
    ),
    "aarch64": (
        *(117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 217, 218, 219),
        *(280, 241, 282, 265, 438, 105, 273, 106, 104, 294, 142, 224, 225),
        *(170, 112, 266, 89, 60, 116, 428, 429, 430, 431, 432, 433, 442),
    ),
}
_ABSENT = (425, 426, 427, 435)
"""io_uring and clone3: programs do without them where the kernel does not know them."""
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CLONE = {"x86_64": 56, "aarch64": 220}
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_NAMESPACES = 0x7E020000
"""Flags of clone that make a namespace."""
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_PR_SET_SECCOMP, _FILTER = 22, 2
_JOIN_SESSION_KEYRING = 1

_Step = tuple[int, int, int, int]
"""Code, jump if true, jump if false, value."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("true", ctypes.c_uint8),
        ("false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


def known() -> bool:
    """Whether there is a filter for this machine."""
    return os.uname().machine in _REFUSED


def leave_keyrings() -> None:
    """Forget the keys that the service was started with: an empty session keyring from here on."""
    number = _KEYCTL.get(os.uname().machine)
    if number is not None:
        ctypes.CDLL(None).syscall(number, _JOIN_SESSION_KEYRING, None)


def refuse() -> None:
    """Apply the filter to this thread and all that it starts. Raises `OSError`.

    Needs `no_new_privileges` beforehand.
    """
    machine = os.uname().machine
    if machine not in _REFUSED:
        return
    steps = _filter(machine)
    listed = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), listed)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _filter(machine: str) -> list[_Step]:
    absent, refused = _ERRNO | errno.ENOSYS, _ERRNO | errno.EPERM
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, absent),  # a program of another architecture has other numbers
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [(_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, absent)]
    for numbers, answer in ((_REFUSED[machine], refused), (_ABSENT, absent)):
        for number in numbers:
            steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, answer)]
    return [
        *steps,
        (_EQUAL, 0, 3, _CLONE[machine]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, refused),
        (_RETURN, 0, 0, _ALLOW),
    ]
