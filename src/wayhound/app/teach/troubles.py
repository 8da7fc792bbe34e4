"""What can go wrong while teaching, told so that a person knows how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from wayhound.url import host_of

_FAILURES = {
    "ERR_CONNECTION_REFUSED": "{host} does not answer: nobody listens there.",
    "ERR_CONNECTION_RESET": "{host} broke the connection off.",
    "ERR_EMPTY_RESPONSE": "{host} hung up without an answer.",
    "ERR_CONNECTION_TIMED_OUT": "{host} does not answer.",
    "ERR_TIMED_OUT": "{host} does not answer.",
    "ERR_NAME_NOT_RESOLVED": "There is no site with the name {host}.",
    "ERR_INTERNET_DISCONNECTED": "This machine is not on the internet.",
    "ERR_ADDRESS_UNREACHABLE": "{host} cannot be reached from here.",
    "ERR_TOO_MANY_REDIRECTS": "{host} sends the browser round in circles, without end.",
    "ERR_UNSAFE_PORT": "The browser refuses that port of {host}.",
}
_GO_ON = "Go back, or take the next site."


def failed(failure: str, url: str) -> str:
    """A page that did not come."""
    code = failure.removeprefix("net::")
    if code.startswith(("ERR_CERT", "ERR_SSL")):
        sentence = "{host} cannot prove that it is who it says."
    else:
        sentence = _FAILURES.get(code, "{host} could not be opened" + (f" ({code})." if code else "."))
    return f"{sentence.format(host=host_of(url) or url)} {_GO_ON}"


def answered(status: int, asks_to_log_in: bool) -> str:
    """A page that is not what was wanted; empty when nothing is wrong with it."""
    if status in (401, 403, 407) or asks_to_log_in:
        return (
            "This page asks you to log in. Do so here if you may: what you type is not recorded, and "
            "--profile keeps the login. Or go back."
        )
    if status in (404, 410):
        return "The site says that this page does not exist. Go back and take another link."
    if status >= 400:
        return f"The site answered with an error ({status}). {_GO_ON}"
    return ""


def file_name(url: str) -> str:
    """As a person would name it: the last part of its address."""
    return unquote(url.partition("?")[0].rpartition("/")[2]) or "This"


def document(name: str, *, free: bool) -> str:
    """A document that was clicked for and is not shown: the page with the link stays, and can be gone on from."""
    marks = "as useful" if free else "as a goal, Alt+Shift+X rejects it"
    return f"{name} is a document. Alt+Shift+G marks it {marks}. Or go on here."


def shown_document(name: str, *, free: bool) -> str:
    """A document that the browser shows, in a viewer that may keep the keys to itself."""
    buttons = "Useful" if free else "Goal or Reject"
    return f"{name} is a document. Press {buttons} here in the bar, or go back to go on from there."


def no_link_to(name: str) -> str:
    return f"{name or 'This'} is a download that no link of this page leads to. The trail stays where it is."


NO_LINK = (
    "No link leads here from the page before, so a new trail begins with this page. "
    "Go back and take a link if this belongs to the trail."
)
CRASHED = "The tab crashed and was opened again. Nothing that you showed is lost."
COMING = "Marked. This page is still coming; the way to it is kept as soon as it is here."
ONLY_USEFUL = "While you browse freely, a page is marked as useful or not at all."
NOTHING_HERE = "There is no page to mark here yet."


def never_came(urls: Sequence[str]) -> str:
    """Marked pages that were still on their way when the session ended; empty when there are none."""
    if not urls:
        return ""
    which = urls[0] if len(urls) == 1 else f"{len(urls)} pages, {urls[0]} first among them,"
    return f"{which} had not come when you ended, so no trail leads there."


def last_site(*, free: bool) -> str:
    return f"This was the last site. Press {'Submit' if free else 'Done'} when you are ready."
