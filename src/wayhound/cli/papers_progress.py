"""Files taken up, as a person sees it: how far it is, one line a file, a summary, and a way to stop."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.app.papers.adding import AddedFile
from wayhound.cli.console import err, write_line
from wayhound.wording.quantities import count

STOPPED = 130
NOT_ALL = 1

_STATES = {
    "added": "{} added",
    "known": "{} known before",
    "twin": "{} with the same content as another",
    "read again": "{} read again",
}


def take_up(results: Generator[AddedFile, None, None], total: int, line: Callable[[AddedFile], str]) -> int:
    """Tell what becomes of each file, and at the end of all; the exit code."""
    seen, names = list[AddedFile](), dict[str, str]()
    with _stopping() as is_stopped, _bar(total) as advance:
        for each in results:
            seen.append(each)
            if told := line(each) or _same_as(each, names):
                write_line(told)
            names.setdefault(each.id, each.name)
            advance()
            if is_stopped():
                results.close()
                break
    err.print(_summary(seen), markup=False)
    if is_stopped() and len(seen) < total:
        err.print("Stopped. The same command goes on from here.")
        return STOPPED
    return 0 if all(each.has_text for each in seen) else NOT_ALL


def _summary(seen: list[AddedFile]) -> str:
    if not seen:
        return "There is nothing new to read."
    first = {each.id: each for each in reversed(seen) if each.id}
    twins = [each for each in seen if each.id and first[each.id] is not each]
    single = [each for each in seen if not each.id or first[each.id] is each]
    states = Counter[str](each.state for each in single) + Counter({"twin": len(twins)})
    told = [text.format(states[state]) for state, text in _STATES.items() if states[state]]
    outcomes = Counter(each.outcome for each in single)
    said = [_said(name, number) for name, number in outcomes.most_common()]
    return f"{count(len(seen), 'file')}: {', '.join(told) or 'none taken up'}; {', '.join(said)}."


def _same_as(each: AddedFile, names: Mapping[str, str]) -> str:
    """Of a file that came a second time in this run under another name: which it is."""
    return f"{each.id}  {each.name}: the same content as {names[each.id]}." if each.id in names else ""


def _said(outcome: str, number: int) -> str:
    match outcome:
        case "paper":
            return count(number, "paper")
        case "document":
            return f"{number:,} no paper"
        case "refused":
            return f"{number:,} not opened"
        case _:
            return f"{number:,} {outcome.replace('_', ' ')}"


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Ctrl-C ends the work after the file under way; a second one ends it at once."""
    asked: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if asked:
            signal.default_int_handler(number, frame)
        asked.append(number)
        err.print("Stopping after the files under way…")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal; elsewhere the lines themselves tell how far it is."""
    columns = (BarColumn(30), MofNCompleteColumn(), TextColumn("files"), TimeRemainingColumn())
    shown = err.is_terminal and total > 1
    with Progress(
        *columns, console=err, transient=True, disable=not shown, redirect_stdout=sys.stdout.isatty()
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)
