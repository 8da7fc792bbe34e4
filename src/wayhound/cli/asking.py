"""Questions at the terminal while a forage runs: one key answers, and nothing waits for it."""

from __future__ import annotations

import asyncio
import os
import sys
import termios
import time
import tty
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from wayhound.cli.console import err
from wayhound.errors import UsageError
from wayhound.store.protocol import Run
from wayhound.store.site_notes import WaitingQuestion
from wayhound.wording.runs import QUESTION_KEYS, format_question
from wayhound.workspace import Workspace

ANSWERS = {"y": True, "n": False, "s": None}
POLL_SECONDS = 0.2


@dataclass
class Asker:
    """Reads keys from stdin, and puts one question at a time.

    Keys may also come from a pipe. Where stdin has ended or cannot be watched, questions wait for another command
    or for the studio.
    """

    workspace: Workspace
    run: Run
    question: WaitingQuestion | None = None
    is_open: bool = False
    _terminal: list[Any] | None = field(default=None, init=False)

    def __enter__(self) -> Self:
        """Watch stdin; call it in a running event loop."""
        if not self.run.limits.questions:
            return self
        with suppress(OSError, ValueError):  # a file, or closed
            if sys.stdin.isatty():
                self._terminal = termios.tcgetattr(sys.stdin)
                tty.setcbreak(sys.stdin, termios.TCSADRAIN)
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), self._read_keys)
            self.is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask no more; what was asked waits."""
        if self.is_open:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        if self._terminal is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._terminal)
        self.is_open, self._terminal, self.question = False, None, None

    def look(self) -> str:
        """Return the question that is put now, in words; empty if there is none."""
        if not self.is_open:
            return ""
        waiting = self.workspace.stores.site_notes.waiting(self.run.id)
        if self.question not in waiting:
            self.question = waiting[0] if waiting else None
            if self.question and self._terminal is None:
                err.print(f"{format_question(self.question, len(waiting))}\n{QUESTION_KEYS}", markup=False)
        return format_question(self.question, len(waiting)) if self.question else ""

    async def until_answered(self, stop: asyncio.Event) -> None:
        """Wait until no question waits, or the person stops."""
        while self.is_open and not stop.is_set() and self.look():  # noqa: ASYNC110 - the studio may answer, too
            await asyncio.sleep(POLL_SECONDS)

    def _read_keys(self) -> None:
        typed = os.read(sys.stdin.fileno(), 1).decode("ascii", "replace").lower()
        if not typed or typed == "q":
            self.stop()
        elif typed in ANSWERS and (self.question or self.look()):
            self._answer(ANSWERS[typed])

    def _answer(self, is_goal: bool | None) -> None:
        from wayhound.app.review import answer_question  # noqa: PLC0415 - loads numpy

        question, self.question = self.question, None
        if question is None:
            return
        try:
            answer_question(self.workspace, question, is_goal, time.time())
        except UsageError as error:
            err.print(str(error), markup=False)
