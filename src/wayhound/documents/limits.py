"""What reading a document may cost, and how a process binds itself to that before it reads."""

from __future__ import annotations

import resource
from dataclasses import dataclass

from wayhound.documents.document import Unread

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds for one file. Memory is address space, of which a fresh reading process takes about 150 MiB."""

    most_bytes: int = 100 * MIB
    most_pages: int = 1_000
    wall_seconds: float = 60.0
    cpu_seconds: int = 30
    memory_bytes: int = 1_024 * MIB
    answer_bytes: int = 64 * MIB

    def too_big(self, n_bytes: int) -> Unread:
        detail = f"The file has {n_bytes / 1e6:.0f} MB; at most {self.most_bytes / 1e6:.0f} MB are read."
        return Unread("too_big", detail)


DEFAULT_LIMITS = Limits()


def bind_process(memory_bytes: int, written_bytes: int = 0) -> None:
    """For good: memory, no core files, and no file grows past `written_bytes`. Pipes are not files."""
    _lower(resource.RLIMIT_AS, memory_bytes)
    _lower(resource.RLIMIT_FSIZE, written_bytes)
    _lower(resource.RLIMIT_CORE, 0)


def allow_cpu(seconds: int) -> None:
    """From now on; past it the kernel ends the process with SIGXCPU. Called again for each file."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    most = int(usage.ru_utime + usage.ru_stime) + 1 + seconds
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))


def _lower(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    most = most if hard < 0 else min(most, hard)
    resource.setrlimit(what, (most, most))
