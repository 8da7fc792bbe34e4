"""Play a teaching session from a script: with real mouse and key events in a browser, or by plain fetches.

A script is JSON: `title`, `way` (`trails` or `free`), `sites`, and `steps`, each of them one of ::

    {"say": "words for the audience"}        {"click": "text of a link"}
    {"goal": true}  {"reject": true}         {"mark": "a label"}
    {"back": true}  {"undo": true}           {"next": true}  {"done": true}

`fail` is the old spelling of `reject`. With `"samples": true` the sites are sample sites
(``http://physics.localhost/``), which are served while the script plays.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from wayhound.app.teach.hand import Hand
from wayhound.app.teach.recorder import Ending, Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.seen_pages import SeenPage
from wayhound.app.teach.session import Arrived, Clicked, Done, Marked, NextSite, TeachMode, Undone
from wayhound.app.teach.teaching import Taught, start_urls, teacher_name
from wayhound.errors import UsageError, WayhoundError
from wayhound.fetched import Fetched
from wayhound.net.browser import BrowserOptions, open_browser
from wayhound.net.http import HttpFetcher
from wayhound.page import Link, Page, to_page
from wayhound.pages.reader import read_page
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.trail import FAIL, GOAL
from wayhound.url import host_of
from wayhound.workspace import Workspace

ACTIONS = ("say", "click", "goal", "reject", "mark", "back", "undo", "next", "done")
OLD_ACTIONS = {"fail": "reject"}
LAST_STEP_SECONDS = 1.0  # for the last step to return after the recording has ended
SAMPLE_LESSON = resources.files("wayhound.app.teach") / "sample_lesson.json"


@dataclass(frozen=True, slots=True)
class Script:
    """A session to play: its sites, and its steps as pairs of an action and its argument."""

    title: str
    sites: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    mode: TeachMode = "trails"
    samples: bool = False

    @classmethod
    def read(cls, text: str, name: str) -> Script:
        """Parse a script. Raises UsageError with `name` if it is not valid."""
        try:
            data = json.loads(text)
            steps = tuple(_step(step) for step in data["steps"])
            sites = start_urls(data["sites"])
            mode: TeachMode = "free" if data.get("way") == "free" else "trails"
            return cls(str(data.get("title", name)), sites, steps, mode, bool(data.get("samples")))
        except KeyError as error:
            raise UsageError(f"{name} is not a valid teaching script: it has no {error}.") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise UsageError(f"{name} is not a valid teaching script: {error}.") from None

    def sites_at(self, port: int) -> tuple[str, ...]:
        """Return the sample sites at the port where they are served."""
        return tuple(f"http://{host_of(site)}:{port}/" for site in self.sites)

    @classmethod
    def sample(cls) -> Script:
        """Return the lesson on sample sites that the demo plays."""
        return cls.read(SAMPLE_LESSON.read_text("utf-8"), "the sample lesson")


def read_script(path: Path) -> Script:
    """Read a script from a file. Raises UsageError if it cannot be read or is not valid."""
    try:
        return Script.read(path.read_text("utf-8"), str(path))
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a teaching script: it is not text in UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _step(step: Mapping[str, Any]) -> tuple[str, str]:
    [(action, argument)] = step.items()
    action = OLD_ACTIONS.get(action, action)
    if action not in ACTIONS:
        raise ValueError(f"there is no step {action!r}; the steps are {', '.join(ACTIONS)}")
    return action, "" if argument is True else str(argument)


class PlayingHand(Protocol):
    """Performs the steps: `Hand` in a browser, `FetchingHand` without one."""

    async def arrived(self) -> None: ...

    async def click(self, text: str) -> None: ...

    async def press(self, action: str) -> None: ...

    async def mark(self, label: str) -> None: ...

    async def back(self) -> None: ...


async def perform(steps: Iterable[tuple[str, str]], hand: PlayingHand, say: Callable[[str], None]) -> None:
    """Perform the steps in order, announcing each by `say`. Raises WayhoundError for a step without effect."""
    await hand.arrived()
    performers: Mapping[str, Callable[[str], Awaitable[None]]] = {
        "click": hand.click,
        "goal": lambda _: hand.press("goal"),
        "reject": lambda _: hand.press("reject"),
        "mark": hand.mark,
        "back": lambda _: hand.back(),
        "undo": lambda _: hand.press("undo"),
        "next": lambda _: hand.press("next"),
        "done": lambda _: hand.press("done"),
    }
    for number, (action, argument) in enumerate(steps, start=1):
        if action == "say":
            say(argument)
            continue
        say(_announcement(action, argument))
        try:
            await performers[action](argument)
        except TimeoutError as error:
            raise WayhoundError(f"Step {number} ({action} {argument}) failed: {error}") from None


def _announcement(action: str, argument: str) -> str:
    return {
        "click": f"  click  “{argument}”",
        "goal": "  press  Goal",
        "reject": "  press  Reject",
        "mark": f"  mark   as “{argument}”",
        "back": "  go     back",
        "undo": "  press  Undo",
        "next": "  press  Next site",
        "done": "  press  Done",
    }[action]


# In a browser


def play(
    script: Script,
    workspace: Workspace,
    options: BrowserOptions | None = None,
    *,
    samples: SampleServer | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Taught:
    """Teach what the script shows. Sample sites are served meanwhile, unless `samples` serves them already."""
    with ExitStack() as stack:
        sites = script.sites
        if script.samples:
            sites = script.sites_at(stack.enter_context(_serving(samples)).port)
        return asyncio.run(_play(script, sites, workspace, options or BrowserOptions(headless=True), say))


def _serving(samples: SampleServer | None) -> AbstractContextManager[SampleServer]:
    return serve_samples(sample_web()) if samples is None else nullcontext(samples)


async def _play(
    script: Script,
    sites: tuple[str, ...],
    workspace: Workspace,
    options: BrowserOptions,
    say: Callable[[str], None],
) -> Taught:
    saver = _new_session(workspace, script, sites)
    async with open_browser(options) as context:
        recorder = Recorder(context, saver)
        recording = asyncio.ensure_future(recorder.run())
        performing = asyncio.ensure_future(perform(script.steps, Hand(recorder, saver), say))
        try:
            await asyncio.wait({recording, performing}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({performing}, timeout=LAST_STEP_SECONDS)
            ending = await recording if recording.done() else _finish(recorder, performing)
        finally:
            recording.cancel()
            performing.cancel()
            await asyncio.gather(recording, performing, return_exceptions=True)
            saver.close()
    return Taught.by(saver, ending)


def _new_session(workspace: Workspace, script: Script, sites: tuple[str, ...]) -> Saver:
    record = workspace.stores.teaching.begin(script.mode, sites, teacher_name(), time.time())
    return Saver(workspace, record)


def _finish(recorder: Recorder, performing: asyncio.Task[None]) -> Ending:
    """Finish the session of a script that has no `done` step."""
    performing.result()
    recorder.actions.finish()
    return "done"


# Without a browser: links are followed by plain fetches, and scripts of pages do not run

TAB = 1


async def play_by_fetching(
    script: Script, sites: tuple[str, ...], workspace: Workspace, say: Callable[[str], None]
) -> Taught:
    """Teach what the script shows on `sites` of this machine."""
    saver = _new_session(workspace, script, sites)
    try:
        async with HttpFetcher(allow_private=True) as fetcher:
            await perform(script.steps, FetchingHand(fetcher, saver), say)
    finally:
        saver.close()
    return Taught.by(saver, "done")


@dataclass
class FetchingHand:
    """Performs steps on one imaginary tab. Raises TimeoutError where a browser would wait in vain."""

    fetcher: HttpFetcher
    saver: Saver
    _history: list[Page] = field(default_factory=list)
    _entries: int = 0

    async def arrived(self) -> None:
        await self._open(self.saver.session.resume_url(), None)

    async def click(self, text: str) -> None:
        link = _link_with_text(self._history[-1], text)
        self.saver.apply(Clicked(TAB, link))
        await self._open(link.url, link)

    async def press(self, action: str) -> None:
        match action:
            case "goal" | "reject":
                self._label(GOAL if action == "goal" else FAIL)
            case "undo":
                self.saver.apply(Undone())
            case "next":
                self.saver.apply(NextSite())
                self._history.clear()
                await self._open(self.saver.session.resume_url(), None)
            case "done":
                self.saver.apply(Done())

    async def mark(self, label: str) -> None:
        self._label(label)

    async def back(self) -> None:
        self._history.pop()
        self._entries += 1
        self.saver.apply(Arrived(TAB, self._entries, self._history[-1].url))

    def _label(self, label: str) -> None:
        node = self.saver.session.page_shown(TAB)
        assert node is not None
        self.saver.apply(Marked(node.number, label))

    async def _open(self, url: str, link: Link | None) -> None:
        answer = await self.fetcher.fetch(url)
        if isinstance(answer, Fetched) and answer.location:
            answer = await self.fetcher.fetch(answer.location)
        if not isinstance(answer, Fetched) or not answer.ok:
            raise TimeoutError(f"{url} does not answer")
        page = to_page(read_page(answer.url, answer.body, answer.content_type, answer.charset))
        if page is None:
            raise TimeoutError(f"{url} is empty")
        self._entries += 1
        self._history.append(page)
        self.saver.apply(Arrived(TAB, self._entries, answer.url, link))
        node = self.saver.session.page_shown(TAB)
        assert node is not None
        html = "" if page.is_document else answer.body.decode(page.charset or "utf-8", "replace")
        self.saver.save_seen(node.number, SeenPage(answer.url, page.title, html, page.content_type))
        if page.is_document:
            self.saver.save_original(node.number, answer)


def _link_with_text(page: Page, text: str) -> Link:
    """Return the first link with exactly this text, else the first that contains it."""
    exact = (link for link in page.links if link.text == text)
    containing = (link for link in page.links if text in link.text)
    link = next(exact, None) or next(containing, None)
    if link is None:
        raise TimeoutError(f"there is no link with the text {text}")
    return link
