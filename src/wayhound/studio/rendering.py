"""Show a foreign page inside ours: its text and structure are rebuilt without any of its code.

Only text and the names of harmless tags are copied, so there is nothing to sanitise: the result has no script,
style, attribute, picture or address of the page. It is served in a sandboxed frame all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.fetched import Fetched
from wayhound.pages.markup_limits import limit_markup
from wayhound.pages.sniff import decode, sniff_kind
from wayhound.url import normalise

FRAME_HEADERS = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'"
    ),
    "x-frame-options": "SAMEORIGIN",
    "cache-control": "no-store",
}
PAGE_WITH_FRAME = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; frame-src 'self'"
)

MOST_NODES = 20_000
LONGEST_ADDRESS = 200
_KEPT = frozenset(
    """address article aside b blockquote br caption center cite code dd div dl dt em figcaption figure footer
    h1 h2 h3 h4 h5 h6 header hr i li main nav ol p pre s section small strong sub sup table tbody td tfoot th
    thead tr u ul""".split()
)
_EMPTY = frozenset({"br", "hr"})
_DROPPED = frozenset(
    """applet audio base canvas embed head input link math meta noembed noframes noscript
    object option param script select source style svg template textarea title track video""".split()
)
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 12px 16px; color: #1b2430; background: #fff; }
.link { border-bottom: 2px solid #7a8794; padding: 0 2px; border-radius: 3px; cursor: help; }
.link b { font: 600 11px system-ui, sans-serif; margin-left: 4px; opacity: .75; }
.link:focus { outline: 3px solid #b3400a; }
.plain { border-bottom: 1px dotted #7a8794; }
.picture { color: #55606e; font-size: 12px; }
.s0 { background: #eceff2; } .s1 { background: #dcebf7; } .s2 { background: #b9dcf2; }
.s3 { background: #ffe08a; } .s4 { background: #ffb74d; } .s5 { background: #ff8a50; }
td, th { padding: 2px 8px 2px 0; vertical-align: top; text-align: left; }
"""

Marker = Callable[[str], tuple[str, str, str]]
"""Takes the URL of a link and returns its CSS class, its tooltip, and a text to show beside it."""


def no_marks(_: str) -> tuple[str, str, str]:
    return "plain", "", ""


def rendered(response: Fetched, mark: Marker = no_marks) -> str:
    """Return an HTML document with the text of the page and its links marked; of a PDF or the like, a note."""
    if sniff_kind(response.body, response.content_type, response.charset) == "binary":
        body = f"<p>This is a document of {len(response.body) / 1e3:,.0f} kB. It is not shown here.</p>"
    else:
        body = _body(response, mark)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Archived page</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>"
    )


def _body(response: Fetched, mark: Marker) -> str:
    text, _ = decode(response.body, response.charset)
    tree = LexborHTMLParser(limit_markup(text))
    base = _base(tree, response.url)
    shown = tree.body or tree.css_first("frameset")
    return "".join(_Writer(base, mark).write(shown)) if shown else ""


def _base(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    href = element.attributes.get("href") if element else None
    return (normalise(href, url) if href else "") or url


LinkButtons = Callable[[str, int], tuple[str, str]]
"""Takes the URL of a link and its place among the links to that URL; returns markup before and after its text."""


def rendered_with_buttons(response: Fetched, buttons: LinkButtons) -> str:
    """Return the text of a page with its links as buttons of a form on our own page.

    Nothing of the page but its text and harmless tags is in it, as in `rendered`.
    """
    text, _ = decode(response.body, response.charset)
    tree = LexborHTMLParser(limit_markup(text))
    shown = tree.body
    return "".join(_ButtonWriter(_base(tree, response.url), buttons).write(shown)) if shown else ""


class _Writer:
    """Writes a tree with an explicit stack: pages may be nested deeper than Python recurses."""

    def __init__(self, base: str, mark: Marker) -> None:
        self._base = base
        self._mark = mark

    def write(self, root: LexborNode) -> Iterator[str]:
        stack: list[LexborNode | str] = [root]
        nodes = 0
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                yield node
                continue
            nodes += 1
            if nodes > MOST_NODES:
                continue  # open elements are closed, and no more are started
            before, after, with_content = self._parts(node)
            yield before
            stack.append(after)
            if with_content:
                stack += reversed(list(node.iter(include_text=True)))

    def _parts(self, node: LexborNode) -> tuple[str, str, bool]:
        """Return the markup before and after a node's content, and True if the content is shown."""
        tag = (node.tag or "").lower()
        if tag == "-text":
            return escape(node.text(deep=False) or ""), "", False
        if tag in _DROPPED or tag.startswith(("-", "!", "_")):
            return "", "", False
        if tag == "img":
            alt = node.attributes.get("alt") or ""
            return (f'<span class="picture">[picture: {escape(alt)}]</span>' if alt else "", "", False)
        if tag in ("a", "area"):
            return (*self._link(node.attributes.get("href")), True)
        if tag in ("frame", "iframe"):
            return self._frame(node.attributes.get("src")), "", False
        if tag in _EMPTY:
            return f"<{tag}>", "", False
        return (f"<{tag}>", f"</{tag}>", True) if tag in _KEPT else ("", "", True)

    def _frame(self, src: str | None) -> str:
        """Show a frame as a link: its content is a page of its own."""
        before, after = self._link(src)
        return f"<p>{before}[frame: {escape(src[:LONGEST_ADDRESS])}]{after}</p>" if src else ""

    def _link(self, target: str | None) -> tuple[str, str]:
        url = normalise(target, self._base) if target else ""
        if not url:
            return "<span>", "</span>"
        css_class, tooltip, beside = self._mark(url)
        # Without an address, a link can be hovered over and focused, but not followed.
        opening = f'<span class="link {escape(css_class)}" tabindex="0" title="{escape(tooltip)}">'
        return opening, f"{f'<b>{escape(beside)}</b>' if beside else ''}</span>"


class _ButtonWriter(_Writer):
    def __init__(self, base: str, buttons: LinkButtons) -> None:
        super().__init__(base, no_marks)
        self._buttons = buttons
        self._seen: Counter[str] = Counter()

    def _link(self, target: str | None) -> tuple[str, str]:
        url = normalise(target, self._base) if target and not target.startswith("#") else ""
        if not url:
            return "<span>", "</span>"
        self._seen[url] += 1
        return self._buttons(url, self._seen[url] - 1)
