"""The page that lists all sample sites, for people who look at them in a browser."""

from __future__ import annotations

from trailmark.samples.builder import SamplePage
from trailmark.samples.look import fill, look
from trailmark.samples.markup import link
from trailmark.samples.web import Kind, SampleSite, SampleWeb


def index_page(web: SampleWeb, port: int) -> SamplePage:
    sections = _section(web, port, "department", "Departments") + _section(web, port, "company", "Companies")
    parts = {"count": str(len(web.sites)), "sections": sections, "css": look("index.css")}
    text = fill("index.html", **parts)
    return SamplePage(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def _section(web: SampleWeb, port: int, kind: Kind, heading: str) -> str:
    cards = "".join(_card(site, port) for site in web.sites if site.kind == kind)
    return f'<h2>{heading}</h2><div class="sites">{cards}</div>'


def _card(site: SampleSite, port: int) -> str:
    url = f"http://{site.host}:{port}{site.start}"
    return f"""<div class="site"><h3>{link(url, site.title)}</h3><code>{site.host} · {site.language}</code>
<p>{site.special[0].upper()}{site.special[1:]}.</p></div>"""
