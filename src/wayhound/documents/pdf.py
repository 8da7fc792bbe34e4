"""PDF files, read by child processes, so that a file that crashes PDFium does not crash the caller.

PDFium is fast, but written in C++ and not thread-safe, and fetched files may be hostile. Each reading process
is therefore limited in memory and time, killed and replaced if it hangs or crashes, and answers in JSON.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import subprocess
import time
from importlib.util import find_spec
from queue import LifoQueue
from types import TracebackType
from typing import Any, Self

from wayhound.documents.document import Document, Unread, from_data
from wayhound.documents.limits import DEFAULT_LIMITS, ReadingLimits
from wayhound.errors import MissingExtra, WayhoundError
from wayhound.processes import python_command, start_process, wait_or_kill
from wayhound.sandbox import sparse_environment

FRAME_LENGTH = struct.Struct(">I")
"""Precedes every message between this module and `pdf_worker`."""

_START_SECONDS = 60.0
_DYING_SECONDS = 30.0
_FILES_PER_PROCESS = 500  # then it is replaced, so that memory leaks stay small
_CHUNK = 1 << 16


class PdfReader:
    """A small pool of reading processes, started when needed. Several threads may use it at once.

    >>> with PdfReader() as reader:
    ...     reader.read(b"not a PDF").reason
    'broken'
    """

    def __init__(self, limits: ReadingLimits = DEFAULT_LIMITS, workers: int = 1) -> None:
        if find_spec("pypdfium2") is None:
            raise MissingExtra("Reading PDF files", "pypdfium2", "papers")
        self.limits = limits
        self.workers = workers
        self._idle: LifoQueue[_Worker | None] = LifoQueue()
        for _ in range(workers):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, after the files that they are reading."""
        for _ in range(self.workers):
            worker = self._idle.get()
            if worker:
                worker.close()
        for _ in range(self.workers):
            self._idle.put(None)

    def read(self, body: bytes) -> Document | Unread:
        """Return the document in these bytes. Waits for an idle process; never raises for a file's content."""
        if not body:
            return Unread("empty", "The file is empty.")
        if len(body) > self.limits.max_bytes:
            return self.limits.too_big(len(body))
        worker = self._idle.get()
        try:
            worker, outcome = self._read_with(worker, body)
        except BaseException:
            worker = None  # it has been killed
            raise
        finally:
            self._idle.put(worker)
        return outcome

    def _read_with(self, worker: _Worker | None, body: bytes) -> tuple[_Worker | None, Document | Unread]:
        used = worker is not None and worker.n_files > 0
        worker = worker or _Worker(self.limits)
        outcome = worker.read(body)
        if (
            used
            and not worker.alive
            and isinstance(outcome, Unread)
            and outcome.reason in {"crashed", "too_big"}
        ):
            worker = _Worker(self.limits)  # an earlier file may have caused it: try again in a new process
            outcome = worker.read(body)
        if worker.alive and worker.n_files >= _FILES_PER_PROCESS:
            worker.close()
        return worker if worker.alive else None, outcome


class _Worker:
    """One reading process, seen from its parent."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._process = start_process(
            python_command("wayhound.documents.pdf_worker", str(limits.memory_bytes)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            environment=sparse_environment(),
        )
        assert self._process.stdin
        assert self._process.stdout
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        self.alive, self.n_files = True, 0
        self._wait_until_ready()

    def _wait_until_ready(self) -> None:
        try:
            self._receive(time.monotonic() + _START_SECONDS)
        except (_Broken, _TooLate):
            self.kill()
            raise WayhoundError("The process that reads PDF files does not start.") from None
        except BaseException:  # such as Ctrl-C
            self.kill()
            raise

    def read(self, body: bytes) -> Document | Unread:
        """Return the document in these bytes; kill the process if it cannot read another file after this one."""
        limits, deadline = self._limits, time.monotonic() + self._limits.wall_seconds
        # A little less than the deadline, so that a slow file still yields the pages read so far.
        request = {
            "max_pages": limits.max_pages,
            "seconds": 0.8 * limits.wall_seconds,
            "cpu_seconds": limits.cpu_seconds,
        }
        self.n_files += 1
        try:
            self._send(json.dumps(request).encode(), deadline)
            self._send(body, deadline)
            return from_data(self._receive(deadline))
        except _TooLate:
            self.kill()
            return Unread("too_slow", f"Reading the PDF took longer than {limits.wall_seconds:g} seconds.")
        except _TooLong:
            self.kill()
            return Unread("too_big", "The PDF holds more text than is allowed.")
        except _Broken:
            return self._post_mortem(_DYING_SECONDS)
        except (WayhoundError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return self._post_mortem(0.0)  # a hostile file has taken over the process, and answers for it
        except BaseException:  # such as Ctrl-C: the process would give this answer to the next request
            self.kill()
            raise

    def _post_mortem(self, seconds: float) -> Unread:
        """Return the outcome for a process that ends within `seconds`, or that does not answer in the protocol.

        A process closes its pipes before it is gone, and giving back its memory may take seconds on a busy machine. If
        it were killed meanwhile, a file that used up its CPU time would count as a crash.
        """
        try:
            code = self._process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            code = 0
        self.kill()
        if code == -signal.SIGXCPU:
            return Unread(
                "too_slow", f"Reading the PDF took more than {self._limits.cpu_seconds} CPU seconds."
            )
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Unread("crashed", f"The PDF reader crashed on this file ({how}).")

    def _send(self, frame: bytes, deadline: float) -> None:
        unsent = memoryview(FRAME_LENGTH.pack(len(frame)) + frame)
        while unsent:
            _wait(self._to, select.POLLOUT, deadline)
            try:
                unsent = unsent[os.write(self._to, unsent[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise _Broken from None

    def _receive(self, deadline: float) -> dict[str, Any]:
        length = FRAME_LENGTH.unpack(self._receive_bytes(FRAME_LENGTH.size, deadline))[0]
        if length > self._limits.answer_bytes:
            raise _TooLong
        answer = json.loads(self._receive_bytes(length, deadline))
        if not isinstance(answer, dict):
            raise _Broken
        return answer

    def _receive_bytes(self, length: int, deadline: float) -> bytes:
        received = bytearray()
        while len(received) < length:
            _wait(self._from, select.POLLIN, deadline)
            part = os.read(self._from, min(length - len(received), 1 << 20))
            if not part:
                raise _Broken
            received += part
        return bytes(received)

    def close(self) -> None:
        """Close the process's input, at which it ends."""
        self.alive = False
        self._close_pipes()
        wait_or_kill(self._process, 5)

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _wait(descriptor: int, event: int, deadline: float) -> None:
    """Wait until a pipe is ready. Not `select`: it rejects descriptors from 1,024 on, which a server has."""
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(1000 * max(0.0, deadline - time.monotonic())):
        raise _TooLate


class _Broken(Exception):  # noqa: N818
    """The process has ended, or does not follow the protocol."""


class _TooLate(Exception):  # noqa: N818
    """The deadline has passed."""


class _TooLong(Exception):  # noqa: N818
    """The answer is longer than allowed."""
