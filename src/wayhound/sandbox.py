"""Confines a process that reads hostile files: no network, no programs, no files but the few that it is given.

Landlock and seccomp are parts of Linux that need no rights to use. Where the kernel lacks one, the process is confined
by the other and by its resource limits alone; `confine_process` returns which of them are active.

As `python -m wayhound.sandbox`, this module confines itself, tries to break out, and prints what happened as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts")
PROGRAM_FOLDERS = ("/bin", "/etc", "/lib", "/lib64", "/opt", "/sbin", "/usr")
"""The folders that a program of the system reads: itself, its libraries, settings and fonts."""

_PASSED_VARIABLES = (
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "PATH",
    "PYTHONHASHSEED",
    "PYTHONUTF8",
    "TMPDIR",
    "VIRTUAL_ENV",
)

# linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on all architectures
_GET_VERSION = 1
_BENEATH_PATH = 1
_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_OF_FILES = _EXECUTE | 1 << 1 | _READ_FILE | 1 << 14  # write and truncate: the rights that a file can have
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # how many rights each version knows
_ALL_TCP = 0b11
_ALL_SCOPES = 0b11  # abstract Unix sockets, and signals to other processes

# linux/seccomp.h, linux/bpf_common.h, linux/audit.h
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_LOAD, _IF_EQUAL, _IF_GREATER_OR_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_OTHER_ABI = 0x40000000  # x32 numbers of calls begin here, and would evade the list
_IO_URING = (425, 426, 427)  # the same on all architectures; makes calls that no filter sees
_ARCHITECTURES = {
    # socket, socketpair, ptrace, process_vm_readv and _writev, bpf, userfaultfd; then execve and execveat
    "x86_64": (0xC000003E, (41, 53, 101, 310, 311, 321, 323), (59, 322)),
    "aarch64": (0xC00000B7, (198, 199, 117, 270, 271, 280, 282), (221, 281)),
}


def sparse_environment() -> dict[str, str]:
    """Return the environment of a confined process: how to find its code, and nothing that may be secret."""
    passed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    return passed | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def code_folders() -> tuple[str, ...]:
    """Return the folders of Python, of its packages and of this one. The current folder is not among them."""
    packages = [path for path in sys.path if Path(path).name in {"site-packages", "dist-packages"}]
    return (sys.prefix, sys.base_prefix, *packages, str(Path(__file__).parents[1]))


def confine_process(
    readable: Iterable[str] = FONT_FOLDERS, writable: Iterable[str] = (), *, programs: bool = False
) -> tuple[str, ...]:
    """Confine this process and its children for good, and return what confines it: `landlock`, `seccomp`.

    Only the folders named and those of the code can be read. With `programs`, the process may become another program.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            return ()
    except (AttributeError, OSError):  # not Linux
        return ()
    folders = (*readable, *code_folders())
    active = []
    if _restrict_files(libc, folders, tuple(writable), programs):
        active.append("landlock")
    if _filter_calls(libc, programs):
        active.append("seccomp")
    return tuple(active)


def _restrict_files(
    libc: ctypes.CDLL, readable: tuple[str, ...], writable: tuple[str, ...], programs: bool
) -> bool:
    version = libc.syscall(_CREATE_RULESET, None, 0, _GET_VERSION)
    if version < 1:
        return False
    rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    handled = [rights, _ALL_TCP if version >= 4 else 0, _ALL_SCOPES if version >= 6 else 0]
    attributes = struct.pack("QQQ", *handled)[: 8 * (1 + (version >= 4) + (version >= 6))]
    rules = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if rules < 0:
        return False
    try:
        for path in readable:
            _allow(libc, rules, path, _READ_FILE | _READ_DIR | (_EXECUTE if programs else 0))
        for path in writable:
            _allow(libc, rules, path, rights)
        return bool(libc.syscall(_RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    """Allow the rights to a file, or beneath a folder; what does not exist needs no rule."""
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= _OF_FILES
        libc.syscall(_ADD_RULE, rules, _BENEATH_PATH, struct.pack("=Qi", rights, folder), 0)
    finally:
        os.close(folder)


def _filter_calls(libc: ctypes.CDLL, programs: bool) -> bool:
    if platform.machine() not in _ARCHITECTURES:
        return False
    program = b"".join(_instructions(*_ARCHITECTURES[platform.machine()], programs))
    buffer = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    return bool(libc.prctl(_SET_SECCOMP, _FILTER_MODE, described, 0, 0) == 0)


def _instructions(
    architecture: int, refused: tuple[int, ...], becoming: tuple[int, ...], programs: bool
) -> Iterator[bytes]:
    """Yield a BPF program over the number of a system call, at 0, and the architecture, at 4."""
    numbers = (*refused, *_IO_URING, *(() if programs else becoming))
    yield _instruction(_LOAD, 0, 0, 4)
    yield _instruction(_IF_EQUAL, 0, len(numbers) + 3, architecture)  # else jump to the refusal
    yield _instruction(_LOAD, 0, 0, 0)
    yield _instruction(_IF_GREATER_OR_EQUAL, len(numbers) + 1, 0, _OTHER_ABI)
    for place, number in enumerate(numbers):
        yield _instruction(_IF_EQUAL, len(numbers) - place, 0, number)
    yield _instruction(_RETURN, 0, 0, _ALLOW)
    yield _instruction(_RETURN, 0, 0, _REFUSE)


def _instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def attempts() -> dict[str, bool]:
    """Try what a confined process must not do, and return what succeeded."""
    return {
        "read a file": _reads(),
        "write a file": _writes(),
        "open a socket": _connects(),
        "run a program": _runs(),
    }


def _reads() -> bool:
    try:
        Path("/etc/passwd").read_bytes()
    except OSError:
        return False
    return True


def _writes() -> bool:
    path = Path("/tmp") / f"wayhound-{os.getpid()}"  # noqa: S108 - it must not succeed
    try:
        path.write_bytes(b"")
        path.unlink()
    except OSError:
        return False
    return True


def _connects() -> bool:
    try:
        socket.socket().close()
    except OSError:
        return False
    return True


def _runs() -> bool:
    try:
        child = os.posix_spawn("/bin/true", ["true"], {})
    except OSError:
        return False
    return os.waitpid(child, 0)[1] == 0


def main() -> None:
    active = confine_process()
    print(json.dumps({"active": active, "succeeded": [name for name, done in attempts().items() if done]}))  # noqa: T201


if __name__ == "__main__":
    main()
