"""Pages as a browser shows them: what their scripts make, what a click does, and what they must not reach."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tests.app.teach.lessons import needs_browser
from tests.servers import Answer, Page, Served, serve
from wayhound.archive.reader import Headers
from wayhound.fetched import Failed, Fetched
from wayhound.net.http import HttpFetcher
from wayhound.net.rendering import BrowserFetcher, RenderLimits
from wayhound.pages.reader import read_response

pytestmark = needs_browser

T = TypeVar("T")
PATIENT = RenderLimits(total_seconds=240, settle_seconds=120, click_seconds=120)
ELSEWHERE = "http://site.example/"


class OnePage:
    """A fetcher of a page on a public host that does not exist."""

    def __init__(self, html: str) -> None:
        self.html = html

    async def fetch(self, url: str) -> Fetched | Failed:
        return Fetched(url, 200, (("Content-Type", "text/html"),), self.html.encode(), "text/html")


def show(*pages: str) -> list[Fetched | Failed]:
    """The pages as a browser shows them that must not reach this machine."""

    async def work() -> list[Fetched | Failed]:
        page = OnePage("")
        shown = []
        async with (
            HttpFetcher() as http,
            BrowserFetcher(page, http, user_agent="Wayhound", limits=PATIENT) as browser,
        ):
            for page.html in pages:
                shown.append(await browser.fetch(ELSEWHERE))
        return shown

    return asyncio.run(work())


def browse(pages: Mapping[str, Page], work: Callable[[BrowserFetcher, Served], Awaitable[T]]) -> T:
    async def run(server: Served) -> T:
        async with (
            HttpFetcher(allow_private=True) as http,
            BrowserFetcher(http, http, user_agent="Wayhound", limits=PATIENT) as browser,
        ):
            return await work(browser, server)

    with serve(pages) as server:
        return asyncio.run(run(server))


def links(answer: Fetched | Failed) -> dict[str, str]:
    page = read_response(answer)
    return {link.text: link.url.removeprefix(ELSEWHERE) for link in getattr(page, "links", ())}


CLICKS = """<title>Ways</title><body>
<a href=/plain>plain</a> <a href="javascript:go('/js')">script link</a>
<a href="#" onclick="go('/hash'); return false">hash</a>
<button id=button>button</button> <div data-card=/card>card</div> <span style="cursor: pointer" id=span>pointer</span>
<a href="#/route">route</a> <a href="#top">top</a>
<form action=/sent><button>Go</button><input type=submit value=Now></form>
<button onclick="go('/gone')">Log out</button> <button onclick="fetch('/post', {method: 'POST'})">quiet</button>
<button onclick="document.querySelector('#forms').submit()">form by script</button><form id=forms action=/sent></form>
<p id=late></p>
<script>
function go(path) { location.href = path; }
document.querySelector('#button').addEventListener('click', () => { history.pushState({}, '', '/pushed'); });
document.querySelector('[data-card]').addEventListener('click', (event) => open(event.target.dataset.card));
document.querySelector('#span').onclick = () => setTimeout(() => go('/later'), 100);
setTimeout(() => { document.querySelector('#late').innerHTML = '<a href=/late>late</a>'; }, 300);
</script>"""


OVERLAY = """<body><div style="position: fixed; inset: 0; z-index: 9; background: #fff">
<p>We value your privacy</p><button>Accept all</button></div><div id=root></div><my-list></my-list><script>
document.querySelector('#root').innerHTML = '<a href=/behind>behind</a>';
customElements.define('my-list', class extends HTMLElement {
  constructor() { super(); this.attachShadow({mode: 'closed'}).innerHTML = '<a href=/inside>inside</a>'; }
});
location.replace('/elsewhere');
</script>"""


def test_links_are_found_by_what_a_click_does_and_nothing_is_sent_or_left() -> None:
    clicks, overlay = map(links, show(CLICKS, OVERLAY))
    assert clicks == {
        "plain": "plain",
        "script link": "js",
        "hash": "hash",
        "button": "pushed",
        "card": "card",
        "pointer": "later",
        "route": "#/route",
        "late": "late",
    }
    # neither an overlay nor a shadow tree hides a link, and a redirect by script is one
    assert overlay == {"behind": "behind", "inside": "inside", "": "elsewhere"}


def reaching(port: int) -> str:
    """A page that tries every way to a server on this machine."""
    here = f"127.0.0.1:{port}"
    return f"""<body><img src="http://{here}/img"><iframe src="http://{here}/frame"></iframe>
<link rel=preconnect href="http://{here}"><link rel=prefetch href="http://{here}/prefetch">
<link rel=stylesheet href="http://{here}/style"><script src="http://{here}/script"></script>
<object data="http://{here}/object"></object><video src="http://{here}/video"></video>
<form id=f method=post action="http://{here}/form"></form><a id=a href="http://{here}/download" download>x</a>
<script>
const framed = () => document.body.appendChild(document.createElement('iframe')).contentWindow;
const tries = [
  () => fetch('http://{here}/fetch', {{mode: 'no-cors'}}),
  () => fetch('/redirect'), () => fetch('http://localhost:{port}/name'), () => fetch('http://0x7f.1:{port}/spelling'),
  () => fetch('http://[::ffff:127.0.0.1]:{port}/mapped'),
  () => navigator.sendBeacon('http://{here}/beacon', 'x'),
  () => new WebSocket('ws://{here}/socket'), () => new (framed().WebSocket)('ws://{here}/framed'),
  () => framed().fetch('http://{here}/framed'), () => new (framed().EventSource)('http://{here}/framed'),
  () => new EventSource('http://{here}/events'),
  () => navigator.serviceWorker.register('/worker.js'),
  () => new Worker(URL.createObjectURL(new Blob([
    "new WebSocket('ws://{here}/w'); fetch('http://{here}/worker'); importScripts('http://{here}/import')"]))),
  () => document.querySelector('#f').submit(), () => document.querySelector('#a').click(),
  () => window.open('http://{here}/window'), () => {{ location.href = 'http://{here}/away'; }},
];
for (const attempt of tries) try {{ Promise.resolve(attempt()).catch(() => 0); }} catch {{ }}
document.body.append('all tried');
</script>"""


SECURE = "https://site.example/"  # only such a page may have a service worker


class RedirectedInside(HttpFetcher):
    """Redirects one address to a private one, and serves a worker that asks for one, as a public server could."""

    target = ""

    async def load(
        self, url: str, *, method: str = "GET", headers: Headers = (), body: bytes | None = None
    ) -> Fetched | Failed:
        if url.endswith("site.example/redirect"):
            return Fetched(url, 302, location=self.target)
        if url.endswith("site.example/worker.js"):
            script = f"fetch('{self.target}'); new WebSocket('{self.target}'.replace('http', 'ws'))".encode()
            return Fetched(url, 200, (("Content-Type", "text/javascript"),), script, "text/javascript")
        return await super().load(url, method=method, headers=headers, body=body)


def test_a_rendered_page_reaches_no_private_address_by_any_way() -> None:
    async def work(server: Served) -> list[Fetched | Failed]:
        RedirectedInside.target = f"{server}/secret"
        async with (
            RedirectedInside() as http,
            BrowserFetcher(OnePage(reaching(server.port)), http, user_agent="W", limits=PATIENT) as browser,
        ):
            return [await browser.fetch(url) for url in (ELSEWHERE, SECURE)]

    with serve({}) as server:
        answers = asyncio.run(work(server))
    for answer in answers:
        assert isinstance(answer, Fetched)
        assert b"all tried" in answer.body
    assert server.connections == 0


def test_scripts_are_loaded_once_and_images_never_and_robots_txt_is_obeyed() -> None:
    html = "<div id=root></div><img src=/image.png><script src=/app.js></script>"
    script = """for (const name of ['open', 'closed']) fetch('/' + name).then((answer) => answer.text())
      .then((text) => document.querySelector('#root').append(text));"""
    pages: dict[str, Page] = {
        "/robots.txt": "User-agent: *\nDisallow: /closed",
        "/": html,
        "/two": html,
        "/app.js": Answer(script, headers=(("Content-Type", "text/javascript"),)),
        "/open": "words for all",
        "/closed": "words for nobody",
    }

    async def work(browser: BrowserFetcher, server: Served) -> tuple[bytes, dict[str, int]]:
        bodies = []
        for path in ("/", "/two"):
            answer = await browser.fetch(f"{server}{path}")
            assert isinstance(answer, Fetched)
            assert answer.source is not None
            assert answer.source.body == html.encode()
            bodies.append(answer.body)
        return bodies[-1], dict(server.requests)

    body, requests = browse(pages, work)
    assert b"words for all" in body
    assert b"words for nobody" not in body
    assert requests == {"/robots.txt": 1, "/": 1, "/two": 1, "/app.js": 1, "/open": 2}


GREEDY = """<body><ul></ul><script>
const list = document.querySelector('ul');
const more = async (name) => { await fetch('/data/' + name + list.children.length);
  for (let n = 0; n < 5; n += 1) {
    const entry = list.appendChild(document.createElement('li'));
    entry.innerHTML = `<a href="/${name}${list.children.length}">entry ${list.children.length}</a>`;
    entry.style.height = '500px';
  } };
GREED
</script>"""
ENDLESS_LIST = "more('scrolled'); addEventListener('scroll', () => more('scrolled'));"
MANY_BUTTONS = """for (let n = 0; n < 9; n += 1) {
  const button = document.body.appendChild(document.createElement('button'));
  button.textContent = 'Chapter ' + n;
  button.onclick = () => location.assign('/chapter/' + n);
}"""
MANY_REQUESTS = "for (let n = 0; n < 30; n += 1) fetch('/data/' + n);"


def test_requests_bytes_scrolling_and_clicks_of_a_page_are_bounded() -> None:
    pages: dict[str, Page] = {
        "/list": GREEDY.replace("GREED", ENDLESS_LIST),
        "/buttons": GREEDY.replace("GREED", MANY_BUTTONS),
        "/requests": GREEDY.replace("GREED", MANY_REQUESTS),
        "/bytes": GREEDY.replace("GREED", MANY_REQUESTS.replace("/data/", "/large/")),
    }
    pages |= {f"/data/{n}": "few" for n in range(30)} | {f"/large/{n}": "x" * 10_000 for n in range(30)}
    low = replace(PATIENT, requests=10, scrolls=2, clicks=4, request_bytes=25_000)

    async def work(browser: BrowserFetcher, server: Served) -> tuple[list[int], int, int]:
        browser.limits = low
        found = [links(await browser.fetch(f"{server}/{name}")) for name in ("list", "buttons")]
        for name in ("requests", "bytes"):
            assert (await browser.fetch(f"{server}/{name}")).outcome == "ok"
        asked = server.requests
        counts = [
            sum(n for path, n in asked.items() if path.startswith(kind)) for kind in ("/data/", "/large/")
        ]
        return [len(each) for each in found], counts[0], counts[1]

    (scrolled, clicked), few, large = browse(pages, work)
    assert 5 < scrolled <= 30
    assert clicked == 4
    assert few <= 10 + 10  # of the page with many requests and of the list
    assert 3 <= large <= 10  # those under way when the bound was met are not taken back


def test_a_page_that_cannot_be_shown_is_closed() -> None:
    async def work(browser: BrowserFetcher, server: Served) -> tuple[str, int]:
        answer = await browser.fetch(f"{server}/")
        assert browser._browser is not None
        return answer.outcome, len(browser._browser.browser.contexts)

    assert browse({"/": Answer("", 204)}, work) == ("bad_response", 0)


def test_retired_browsers_are_closed_once() -> None:
    async def work(browser: BrowserFetcher, _server: Served) -> int:
        for _ in range(2):
            await browser._drop(await browser._open())
        await asyncio.gather(browser._close_retired(), browser._close_retired())
        return len(browser._retired)

    assert browse({}, work) == 0


def children(pid: int) -> set[int]:
    """The processes that a process has started, and theirs."""
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = status.read_text()
        except OSError:
            continue
        parents[int(status.parent.name)] = int(text.rpartition(")")[2].split()[1])
    found: set[int] = set()
    while more := {child for child, parent in parents.items() if parent in {pid, *found}} - found:
        found |= more
    return found


def browsers(pid: int) -> set[int]:
    commands = {child: Path(f"/proc/{child}/cmdline") for child in children(pid)}
    return {
        child
        for child, command in commands.items()
        if command.exists() and b"--remote-debugging" in command.read_bytes()
    }


def test_a_killed_browser_is_replaced_and_none_is_left_behind() -> None:
    before = browsers(os.getpid())

    async def work(browser: BrowserFetcher, server: Served) -> list[str]:
        shown = [await browser.fetch(f"{server}/")]
        for pid in browsers(os.getpid()) - before:
            os.kill(pid, signal.SIGKILL)
        shown.append(await browser.fetch(f"{server}/"))
        browser.limits = RenderLimits(total_seconds=5.0)
        shown.append(await browser.fetch(f"{server}/endless"))  # this one cannot be closed, only killed
        browser.limits = PATIENT
        shown.append(await browser.fetch(f"{server}/"))
        return [answer.outcome for answer in shown]

    pages = {"/": "<script>document.write('words')</script>", "/endless": "<script>for (;;) {}</script>"}
    assert browse(pages, work) == ["ok", "ok", "timeout", "ok"]
    assert not browsers(os.getpid()) - before
