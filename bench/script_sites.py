"""Five small sites that are made by scripts, and the same five rendered by their server.

Each is a function from a path to a response: a body and its media type, or None. The goals are the pages of professors,
or of a catalogue's entries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from html import escape
from itertools import cycle

Response = tuple[str, str]
Serve = Callable[[str], Response | None]

HTML, SCRIPT, JSON = "text/html; charset=utf-8", "text/javascript", "application/json"
ENTRIES_A_PAGE = 20


@dataclass(frozen=True, slots=True)
class Content:
    """A page, however it is made."""

    title: str
    text: str
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptSite:
    """A site made by scripts, its twin, and the pattern of the pages wanted in their titles."""

    name: str
    made_by_scripts: Serve
    twin: Serve
    goal: str


def _institute(people_count: int) -> dict[str, Content]:
    people = {
        f"/people/{number}": Content(
            f"{'Professor' if number % 3 == 0 else 'Doctor'} Number {number}",
            f"Works in room {100 + number} on questions of every kind. Lectures are held on Mondays and Tuesdays.",
            (("/people", "All people"), (f"/people/{number}/papers", "Papers")),
        )
        for number in range(people_count)
    }
    papers = {
        f"{path}/papers": Content(f"Papers of number {number}", "A list of papers, each read by somebody.")
        for number, path in enumerate(people)
    }
    names = tuple((path, page.title) for path, page in people.items())
    menu = (("/people", "People"), ("/teaching", "Teaching"), ("/news", "News"), ("/contact", "Contact"))
    rooms = {
        "/": Content("Institute", "Welcome to the institute, which has people and does teaching.", menu),
        "/people": Content("People", "Those who work here, in the order of their numbers.", names),
        "/teaching": Content("Teaching", "Courses of this term and of the next.", (("/", "Home"),)),
        "/news": Content("News", "Nothing has happened for a while.", (("/", "Home"),)),
        "/contact": Content("Contact", "Write to the office, or come by.", (("/", "Home"),)),
    }
    return rooms | people | papers


def _page(title: str, body: str, script: str = "") -> Response:
    code = f"<script>{script}</script>" if script else ""
    return f"<!DOCTYPE html><title>{escape(title)}</title><body>{body}{code}</body>", HTML


def _shown(content: Content, link: Callable[[str, str], str]) -> str:
    links = "".join(f"<li>{link(path, text)}</li>" for path, text in content.links)
    return f"<h1>{escape(content.title)}</h1><p>{escape(content.text)}</p><ul class=links>{links}</ul>"


def _rendered_institute(pages: Mapping[str, Content]) -> Serve:
    def serve(path: str) -> Response | None:
        content = pages.get(path)
        if content is None:
            return None
        return _page(content.title, _shown(content, lambda to, text: f'<a href="{to}">{escape(text)}</a>'))

    return serve


def _data(pages: Mapping[str, Content], path: str) -> Response | None:
    """Answer ``/data/people/3`` with what the page ``/people/3`` shows."""
    content = pages.get(path.removeprefix("/data") or "/") if path.startswith("/data") else None
    if content is None:
        return None
    return json.dumps({"title": content.title, "text": content.text, "links": content.links}), JSON


_DRAW = """
async function draw(path) {
  const answer = await fetch('/data' + (path === '/' ? '' : path));
  const root = document.getElementById('root');
  if (!answer.ok) { root.textContent = 'Not found'; return; }
  const page = await answer.json();
  document.title = page.title;
  root.innerHTML = '';
  root.appendChild(document.createElement('h1')).textContent = page.title;
  root.appendChild(document.createElement('p')).textContent = page.text;
  const list = root.appendChild(document.createElement('ul'));
  for (const [path, text] of page.links) {
    const link = list.appendChild(document.createElement('li')).appendChild(document.createElement('a'));
    link.href = address(path);
    link.textContent = text;
  }
}
"""
_HISTORY = (
    _DRAW
    + """
const address = (path) => path;
document.addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (!link) return;
  event.preventDefault();
  history.pushState({}, '', link.href);
  draw(location.pathname);
});
window.addEventListener('popstate', () => draw(location.pathname));
draw(location.pathname);
"""
)
_HASH = (
    _DRAW
    + """
const address = (path) => '#' + path;
const show = () => draw(location.hash.slice(1) || '/');
window.addEventListener('hashchange', show);
show();
"""
)
_SHELL = (
    "<!DOCTYPE html><title>Institute</title><body><noscript>You need to enable JavaScript to run this app.</noscript>"
    '<div id="root"></div><script src="/app.js"></script></body>'
)


def _application(pages: Mapping[str, Content], script: str, shells: Container[str]) -> Serve:
    def serve(path: str) -> Response | None:
        if path == "/app.js":
            return script, SCRIPT
        return _data(pages, path) or ((_SHELL, HTML) if path in shells else None)

    return serve


_MENU = """
function go(path) { location.assign(path); }
document.querySelectorAll('[data-card]').forEach((card) =>
  card.addEventListener('click', () => { window.location.href = card.dataset.card; }));
"""


def _script_menu(pages: Mapping[str, Content]) -> Serve:
    def serve(path: str) -> Response | None:
        content = pages.get(path)
        if content is None:
            return None
        kinds = cycle((_script_link, _span, _card))
        return _page(content.title, _shown(content, lambda to, text: next(kinds)(to, escape(text))), _MENU)

    return serve


def _script_link(to: str, text: str) -> str:
    return f"""<a href="javascript:go('{to}')">{text}</a>"""


def _span(to: str, text: str) -> str:
    return f"""<span class="item" onclick="go('{to}')">{text}</span>"""


def _card(to: str, text: str) -> str:
    return f'<div class="item" data-card="{to}">{text}</div>'


# A catalogue of many entries


def _entry(total: int, path: str) -> Response | None:
    number = path.removeprefix("/entries/")
    if number == path or not number.isdecimal() or int(number) >= total:
        return None
    text = f"The entry with the number {number}, which is described at some length, as all entries here are."
    return _page(f"Entry {number}", f'<h1>Entry {number}</h1><p>{text}</p><a href="/entries">All</a>')


def _home(path: str) -> Response | None:
    if path != "/":
        return None
    return _page("Catalogue", '<h1>Catalogue</h1><p>All there is.</p><a href="/entries">Entries</a>')


def _entries(total: int, first: int) -> str:
    last = min(first + ENTRIES_A_PAGE, total)
    return "".join(f'<li><a href="/entries/{n}">Number {n}</a></li>' for n in range(first, last))


def _more(total: int, path: str) -> Response | None:
    first = path.removeprefix("/more/")
    return (_entries(total, int(first)), HTML) if first != path and first.isdecimal() else None


def _rendered_catalogue(total: int) -> Serve:
    def serve(path: str) -> Response | None:
        page = path.removeprefix("/entries").removeprefix("?page=") or "0"
        if (path != "/entries" and not path.startswith("/entries?page=")) or not page.isdecimal():
            return _home(path) or _entry(total, path)
        number = int(page)
        has_more = (number + 1) * ENTRIES_A_PAGE < total
        following = f'<a href="/entries?page={number + 1}">Next</a>' if has_more else ""
        body = f"<h1>Entries</h1><ul>{_entries(total, number * ENTRIES_A_PAGE)}</ul>{following}"
        return _page(f"Entries, page {number}", body)

    return serve


_MORE = """
const list = document.querySelector('ul');
let next = list.children.length, loading = false;
async function load() {
  if (loading || next >= TOTAL) return;
  loading = true;
  const answer = await fetch('/more/' + next);
  list.insertAdjacentHTML('beforeend', await answer.text());
  next = list.children.length;
  loading = false;
  if (next >= TOTAL && button) button.remove();
}
const button = document.querySelector('#load-more');
if (button) button.addEventListener('click', load);
else new IntersectionObserver((seen) => { if (seen.some((entry) => entry.isIntersecting)) load(); })
  .observe(document.querySelector('#end'));
"""
_TALL = "<style>li { height: 150px }</style>"
_END = '<div id="end">…</div>'
_BUTTON = '<button id="load-more">Show more</button>'


def _growing_catalogue(total: int, end: str) -> Serve:
    script = _MORE.replace("TOTAL", str(total))

    def serve(path: str) -> Response | None:
        if path == "/entries":
            return _page("Entries", f"{_TALL}<h1>Entries</h1><ul>{_entries(total, 0)}</ul>{end}", script)
        return _home(path) or _entry(total, path) or _more(total, path)

    return serve


def script_sites(people: int = 24, entries: int = 200) -> tuple[ScriptSite, ...]:
    """Return the five sites with so many people or entries, each beside its twin."""
    pages = _institute(people)
    twin, catalogue = _rendered_institute(pages), _rendered_catalogue(entries)
    return (
        ScriptSite("history API", _application(pages, _HISTORY, pages), twin, "Professor"),
        ScriptSite("hash router", _application(pages, _HASH, ("/",)), twin, "Professor"),
        ScriptSite("script-only menu", _script_menu(pages), twin, "Professor"),
        ScriptSite("infinite scroll", _growing_catalogue(entries, _END), catalogue, "^Entry"),
        ScriptSite("load more", _growing_catalogue(entries, _BUTTON), catalogue, "^Entry"),
    )
