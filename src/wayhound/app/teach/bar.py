"""The bar in the teaching browser: what it shows, what its messages say, and what its buttons do."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import unquote

from wayhound.app.facts.search import parse_mark
from wayhound.app.teach.browser_tabs import BrowserTabs, SessionFinished
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.session import Done, Marked, NextSite, PageNode, Session, Undone, tidy_label
from wayhound.app.teach.tab import Tab
from wayhound.errors import UsageError
from wayhound.trail import FAIL, GOAL
from wayhound.url import host_of

Action = Literal["goal", "reject", "mark", "undo", "back", "next", "done"]
Tone = Literal["plain", "trouble", "ask"]
"""`plain` messages disappear by themselves; the others stay until they are closed."""

# Messages

_NETWORK_ERRORS = {
    "ERR_CONNECTION_REFUSED": "{host} refused the connection.",
    "ERR_CONNECTION_RESET": "{host} closed the connection.",
    "ERR_EMPTY_RESPONSE": "{host} closed the connection without an answer.",
    "ERR_CONNECTION_TIMED_OUT": "{host} does not answer.",
    "ERR_TIMED_OUT": "{host} does not answer.",
    "ERR_NAME_NOT_RESOLVED": "There is no site with the name {host}.",
    "ERR_INTERNET_DISCONNECTED": "This computer is offline.",
    "ERR_ADDRESS_UNREACHABLE": "{host} cannot be reached from this computer.",
    "ERR_TOO_MANY_REDIRECTS": "{host} redirects in a loop.",
    "ERR_UNSAFE_PORT": "The browser does not open that port of {host}.",
}
_NEXT = "Go back, or go to the next site."

NO_LINK = (
    "The page before has no link to this page, so a new trail starts here. "
    "To add this page to the trail, go back and click a link that leads to it."
)
TAB_CRASHED = "The tab crashed and was opened again. Nothing you showed is lost."
STILL_LOADING = "Marked. The page is still loading; the path to it is saved as soon as it has loaded."
FREE_MODE_ONLY_USEFUL = "While browsing freely, you can only mark pages as useful."
NOTHING_TO_MARK = "There is no page to mark yet."
UNDONE = "Undone."
ENOUGH_GOALS, ENOUGH_REJECTED = 2, 1  # of one site: more of the same site teach less than another site


def navigation_error(error: str, url: str) -> str:
    """Return the message for a page that did not load, from Chromium's error code."""
    code = error.removeprefix("net::")
    if code.startswith(("ERR_CERT", "ERR_SSL")):
        sentence = "{host} does not have a valid certificate."
    else:
        sentence = _NETWORK_ERRORS.get(code, "{host} could not be opened" + (f" ({code})." if code else "."))
    return f"{sentence.format(host=host_of(url) or url)} {_NEXT}"


def response_error(status: int, *, has_login: bool) -> str:
    """Return the message for a login or error page; empty if nothing is wrong."""
    if status in (401, 403, 407) or has_login:
        return (
            "This page asks you to log in. You can log in here: what you type is not recorded, and "
            "--profile keeps the login for later sessions. Or go back."
        )
    if status in (404, 410):
        return "The site says that this page does not exist. Go back and click another link."
    if status >= 400:
        return f"The site answered with an error ({status}). {_NEXT}"
    return ""


def file_name(url: str) -> str:
    """Return the last part of the path of a URL."""
    return unquote(url.partition("?")[0].rpartition("/")[2]) or "This"


def linked_document(name: str, *, free: bool) -> str:
    """Return the message for a document that a click led to and that the browser does not show."""
    marks = "as useful" if free else "as a goal, Alt+Shift+X rejects it"
    return f"{name} is a document. Alt+Shift+G marks it {marks}. Or continue on this page."


def shown_document(name: str, *, free: bool) -> str:
    """Return the message for a document in the browser's viewer, which may swallow keyboard shortcuts."""
    buttons = "Useful" if free else "Goal or Reject"
    return f"{name} is a document. Press {buttons} here in the bar, or go back to continue."


def unlinked_download(name: str) -> str:
    return f"{name or 'This'} is a download that no link of this page leads to. The trail is unchanged."


def last_site(*, free: bool) -> str:
    return f"This was the last site. Press {'Submit' if free else 'Done'} to finish."


def mark_saved(session: Session, node: PageNode, label: str) -> str:
    """Return the message after a page was marked, or its mark removed."""
    clicks = len(session.path(node.number)) - 1
    if not label:
        return "Mark removed."
    if session.mode == "free":
        return "Marked as useful. The path to this page is saved."
    if label == GOAL:
        distance = f"{clicks} click{'s' * (clicks != 1)} from the start"
        return f"Goal saved, {distance}. {what_is_missing(session)}"
    if label == FAIL:
        return f"Rejected. {what_is_missing(session)}"
    return f"Marked as {label}."


def what_is_missing(session: Session) -> str:
    """Return what the site that is taught still lacks, or that it has enough."""
    goals, rejected = session.marks()
    if not goals:
        return "Now go back and find a page that you look for."
    if not rejected:
        return "Now reject a page or two that you do not look for, so that the difference can be learned."
    if goals < ENOUGH_GOALS:
        return "If the site has more goals, mark another one."
    end = "go to the next site" if session.has_next_site else "press Done"
    return f"This site has enough: {end}."


def value_saved(name: str, text: str) -> str:
    shown = text if len(text) <= 40 else f"{text[:40]}…"
    return f"“{shown}” is marked as {name}. Marked on two pages of a site, it becomes a rule for all of them."


def end_marked(saver: Saver, node: PageNode) -> str:
    """Return the message after an end of a relationship was marked; empty if the label is no such end."""
    if begun := saver.chains.source_of(node.label):
        return (
            f"Source marked. Now click the way to one {begun.target} and mark it as “{begun.target_label}”."
        )
    ended = saver.chains.target_of(node.label)
    if ended is None:
        return ""
    if example := saver.chains.example_at(node.number):
        way = " › ".join(link.text or link.target for link in example.links)
        return f"Example of {ended.name} saved: {way}. Go back and mark another, or press Done."
    return f"No page on the way here is marked as “{ended.source_label}”. Go back to the {ended.source} and mark it."


# State


def bar_state(saver: Saver, tab: int) -> dict[str, Any]:
    """Return the state of a tab's bar in the form that `bar.js` takes."""
    session, node = saver.session, saver.session.page_to_mark(tab)
    position = f"{session.site + 1} of {len(session.sites)} · " if len(session.sites) > 1 else ""
    return {
        "site": position + host_of(session.sites[session.site]).partition(":")[0],
        **_counts(session),
        "crumbs": [_crumb(saver, step) for step in session.path(node.number)] if node else [],
        "labels": saver.labels(),
        "page": node is not None,
        "canUndo": session.undo_count > 0,
        "hasNext": session.has_next_site,
    }


def _counts(session: Session) -> dict[str, Any]:
    goals, rejected = session.marks()
    if session.mode == "free":
        return {"counts": f"{goals} useful", "enough": goals >= ENOUGH_GOALS, "missing": ""}
    return {
        "counts": f"{goals} goal{'s' * (goals != 1)}, {rejected} rejected",
        "enough": goals >= ENOUGH_GOALS and rejected >= ENOUGH_REJECTED,
        "missing": what_is_missing(session),
    }


def _crumb(saver: Saver, node: PageNode) -> dict[str, Any]:
    """Return a breadcrumb, named by the link that was clicked: shorter than most titles."""
    title = saver.pages[node.number].title
    link_text = node.link.text if node.link and node.link.kind == "a" else ""
    start = "Start" if node.url == saver.session.sites[node.site] else ""
    return {
        "page": node.number,
        "words": start or link_text or title,
        "title": title,
        "url": node.url,
        "label": node.label,
    }


class Bars:
    """The bars of all tabs. A message for a tab whose bar is not ready is shown when it is."""

    def __init__(self, saver: Saver, tabs: BrowserTabs) -> None:
        self._saver = saver
        self._tabs = tabs
        self._messages: dict[int, tuple[str, Tone]] = {}

    def queue(self, tab: Tab, message: str, tone: Tone = "plain") -> None:
        """Set the message that is shown with the next update of the tab's bar."""
        self._messages[tab.id] = (message, tone)

    async def say(self, tab: Tab, message: str, tone: Tone = "plain") -> None:
        """Show a message in one tab, and update the bars of all."""
        self.queue(tab, message, tone)
        for open_tab in self._tabs:
            await self.update(open_tab)

    async def update(self, tab: Tab) -> None:
        if not tab.has_bar:  # it asks for its state when it is ready
            return
        message, tone = self._messages.pop(tab.id, ("", ""))
        await tab.show(bar_state(self._saver, tab.id) | {"message": message, "tone": tone})


# Buttons


class TeachActions:
    """Actions that the teacher can take with the page of a tab, by the bar or by the buttons of the studio."""

    def __init__(self, saver: Saver, tabs: BrowserTabs, bars: Bars) -> None:
        self._saver = saver
        self._session = saver.session
        self._tabs = tabs
        self._bars = bars

    async def perform(self, tab: Tab, action: Action, label: str = "") -> None:
        match action:
            case "goal":
                await self.mark(tab, GOAL)
            case "reject":
                await self.mark(tab, FAIL)
            case "mark":
                await self.mark(tab, label)
            case "undo":
                await self.undo(tab)
            case "back":
                await tab.back()
            case "next":
                await self.next_site(tab)
            case "done":
                self.finish()

    async def mark(self, tab: Tab, text: str) -> None:
        node = self._session.page_to_mark(tab.id)
        pages = self._saver.pages
        if node is None or (pages.is_seen(node.number) and pages.read(node.number) is None):
            return await self._bars.say(tab, NOTHING_TO_MARK, "trouble")
        try:
            label = tidy_label(text)
        except ValueError as error:
            return await self._bars.say(tab, f"{error}.", "trouble")
        if self._session.mode == "free" and label not in ("", GOAL):
            return await self._bars.say(tab, FREE_MODE_ONLY_USEFUL, "trouble")
        if node.label != label:
            self._saver.apply(Marked(node.number, label))
        # A page may be marked before it has loaded: the mark counts at once, the trail is saved later.
        loaded = pages.is_seen(node.number)
        message = mark_saved(self._session, node, label) if loaded else STILL_LOADING
        message = end_marked(self._saver, self._session.nodes[node.number]) or message
        return await self._bars.say(tab, message)

    async def mark_value(self, tab: Tab, name: str, text: str) -> None:
        """Keep that a text on the page is a value of a field, such as `phone` or `restaurant:cuisine`."""
        node = self._session.page_shown(tab.id)
        page = self._saver.pages.read(node.number) if node else None
        if node is None or page is None:
            return await self._bars.say(tab, NOTHING_TO_MARK, "trouble")
        try:
            kind, field, value = parse_mark(name, text)
        except UsageError as error:
            return await self._bars.say(tab, str(error), "trouble")
        self._saver.stores.facts.teach(kind, node.url, field, value)
        return await self._bars.say(tab, value_saved(field, value))

    async def undo(self, tab: Tab) -> None:
        site = self._session.site
        self._saver.apply(Undone())
        if self._session.site != site:
            self._tabs.go(tab, self._session.resume_url())
        await self._bars.say(tab, UNDONE)

    async def next_site(self, tab: Tab) -> None:
        if not self._session.has_next_site:
            return await self._bars.say(tab, last_site(free=self._session.mode == "free"))
        self._saver.apply(NextSite())
        self._tabs.go(tab, self._session.sites[self._session.site])
        return None

    def go_to_page(self, tab: Tab, number: int) -> None:
        """Open a page of the session again."""
        if 0 <= number < len(self._session.nodes):
            self._tabs.go(tab, self._session.nodes[number].url)

    def finish(self) -> None:
        """End the session; `Recorder.run` returns soon after."""
        if not self._session.done:
            self._saver.apply(Done())
            self._tabs.signal(SessionFinished())
