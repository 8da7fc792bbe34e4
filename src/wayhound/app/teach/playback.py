"""Plays a teaching session back from a file, with the real mouse and real keys, in a real browser.

The file is JSON: `title`, `way` (`trails` or `free`), `sites`, and `steps`, each one of ::

    {"say": "words for those who watch"}     {"click": "text of a link"}
    {"goal": true}  {"fail": true}           {"mark": "a label"}
    {"back": true}  {"undo": true}           {"next": true}  {"done": true}

With `"samples": true` the sites are sample sites (``http://physics.localhost/``), and they are served.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

from wayhound.app.teach.hand import Hand
from wayhound.app.teach.recorder import Ending, Recorder
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Way
from wayhound.app.teach.teaching import Taught, start_urls, teacher_name
from wayhound.errors import UsageError, WayhoundError
from wayhound.net.browser import BrowserOptions, open_browser
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.url import host_of
from wayhound.workspace import Workspace

ACTIONS = ("say", "click", "goal", "fail", "mark", "back", "undo", "next", "done")
LAST_STEP_SECONDS = 1.0  # after the recording has ended
SAMPLE_LESSON = resources.files("wayhound.app.teach") / "sample_lesson.json"


@dataclass(frozen=True, slots=True)
class Script:
    """A session to play: the sites, and what is done, each as a word and what it is done to."""

    title: str
    sites: tuple[str, ...]
    steps: tuple[tuple[str, str], ...]
    way: Way = "trails"
    samples: bool = False

    @classmethod
    def read(cls, text: str, name: str) -> Script:
        try:
            data = json.loads(text)
            steps = tuple(_step(step) for step in data["steps"])
            sites = start_urls(data["sites"])
            way: Way = "free" if data.get("way") == "free" else "trails"
            return cls(str(data.get("title", name)), sites, steps, way, bool(data.get("samples")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{name} is not a session that can be played: {error}.") from None

    def sites_at(self, port: int) -> tuple[str, ...]:
        """The sample sites where they are served."""
        return tuple(f"http://{host_of(site)}:{port}/" for site in self.sites)

    @classmethod
    def sample(cls) -> Script:
        """The lesson on two sample sites that the demo shows."""
        return cls.read(SAMPLE_LESSON.read_text("utf-8"), "the sample lesson")


def read_script(path: Path) -> Script:
    try:
        return Script.read(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from None


class PlayingHand(Protocol):
    """What does the steps: a real hand in a browser, or one that only follows links."""

    async def arrived(self) -> None: ...

    async def click(self, text: str) -> None: ...

    async def press(self, what: str) -> None: ...

    async def mark(self, label: str) -> None: ...

    async def back(self) -> None: ...


def play(
    script: Script,
    workspace: Workspace,
    options: BrowserOptions | None = None,
    *,
    samples: SampleServer | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Taught:
    """Teach what the script shows. Sample sites are served for the time, unless `samples` serves them."""
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
    store = workspace.stores.teaching
    saver = Saver(workspace, store.begin(script.way, sites, teacher_name(), time.time()))
    async with open_browser(options) as context:
        recorder = Recorder(context, saver)
        recording = asyncio.ensure_future(recorder.run())
        walking = asyncio.ensure_future(walk(script.steps, Hand(recorder, saver), say))
        try:
            await asyncio.wait({recording, walking}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({walking}, timeout=LAST_STEP_SECONDS)
            ending = await recording if recording.done() else _finish(recorder, walking)
        finally:
            recording.cancel()
            walking.cancel()
            await asyncio.gather(recording, walking, return_exceptions=True)
            saver.close()
    return Taught.by(saver, ending)


def _finish(recorder: Recorder, walking: asyncio.Task[None]) -> Ending:
    """A script that does not say that it is done is done when it ends."""
    walking.result()
    recorder.finish()
    return "done"


async def walk(steps: Iterable[tuple[str, str]], hand: PlayingHand, say: Callable[[str], None]) -> None:
    await hand.arrived()
    doing: Mapping[str, Callable[[str], Awaitable[None]]] = {
        "click": hand.click,
        "goal": lambda _: hand.press("goal"),
        "fail": lambda _: hand.press("fail"),
        "mark": hand.mark,
        "back": lambda _: hand.back(),
        "undo": lambda _: hand.press("undo"),
        "next": lambda _: hand.press("next"),
        "done": lambda _: hand.press("done"),
    }
    for number, (action, what) in enumerate(steps, start=1):
        if action == "say":
            say(what)
            continue
        say(_in_words(action, what))
        try:
            await doing[action](what)
        except TimeoutError as error:
            raise WayhoundError(f"Step {number} ({action} {what}) came to nothing: {error}") from None


def _step(step: Mapping[str, Any]) -> tuple[str, str]:
    [(action, what)] = step.items()
    if action not in ACTIONS:
        raise ValueError(f"there is no step {action!r}")
    return action, "" if what is True else str(what)


def _in_words(action: str, what: str) -> str:
    return {
        "click": f"  click  “{what}”",
        "goal": "  press  Goal",
        "fail": "  press  Reject",
        "mark": f"  mark   as “{what}”",
        "back": "  go     back",
        "undo": "  press  Undo",
        "next": "  press  Next site",
        "done": "  press  Done",
    }[action]
