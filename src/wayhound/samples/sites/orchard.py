"""Orchard: documentation style with a sidebar; a team and stories, but no contact address anywhere."""

from __future__ import annotations

import re

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import CompanyStyle


class Orchard(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        tools = listing(link(f"/tools/{slug(c)}.html", c) for c in self.company.categories)
        return fill("orchard.html", title=title, body=body, tools=tools, css=look("orchard.css"))

    def person_path(self, person: SamplePerson) -> str:
        return f"/workshop/people/{slug(person.last)}.html"

    def product_path(self, product: Product) -> str:
        return f"/tools/{slug(product.category)}/{product.slug}.html"

    def news_path(self, news: News) -> str:
        return f"/notes/{news.day:%Y}/{news.day:%m-%d}.html"

    def product(self, product: Product) -> str:
        same = self.company.products_in(product.category)
        following = same[(same.index(product) + 1) % len(same)]
        facts = rows([["Made of", product.material], ["Item", f"<code>OT-{product.number:03}</code>"]])
        return f"""<p>{product.text}</p><table>{facts}</table><div class="next-prev"><span></span>
{link(self.product_path(following), f"Next: {following.name}", 'rel="next"')}</div>"""

    def news(self, news: News) -> str:
        tag = link(f"/tags/?t={slug(news.tag)}", news.tag)
        return f"<p><em>{news.dated}, filed under {tag}</em></p>{paragraphs(news.paragraphs)}"

    def member(self, person: SamplePerson) -> str:
        return f"<p>{person.position} since {person.since}.</p><p>{person.bio}</p>"

    def lists(self) -> None:
        company, page = self.company, self.site.page
        start = paragraphs([f"{company.tagline}.", company.about[0]])
        start += f"<h2>Latest notes</h2>{self.news_list(company.news[:5])}"
        page("/", self.frame(company.title, start), "home")
        for category in company.categories:
            products = company.products_in(category)
            page(f"/tools/{slug(category)}.html", self.frame(category, self.product_list(products)))
        years = sorted({n.day.year for n in company.news}, reverse=True)
        page("/notes/", self.frame("Field notes", listing(link(f"/notes/{y}/", str(y)) for y in years)))
        for year in years:
            items = self.news_list(n for n in company.news if n.day.year == year)
            page(f"/notes/{year}/", self.frame(f"Field notes {year}", items))

    def extras(self) -> None:
        company, page = self.company, self.site.page
        self.people_pages()
        people = rows([self.person_link(p), p.position] for p in company.team)
        page("/workshop/people.html", self.frame("The people", f"<table>{people}</table>"), "team")
        more = listing(link(f"/workshop/{slug(title)}.html", title) for title, _ in company.extras)
        page("/workshop/", self.frame("The workshop", paragraphs(company.about) + more), "about")
        for title, text in company.extras:
            page(f"/workshop/{slug(title)}.html", self.frame(title, f"<p>{text}</p>"))
        self.site.trap(r"/tags/\?t=([a-z+-]+)", self.tags)
        self.site.missing(self.frame("Not here", "<p>This page has been pruned.</p>"))

    def tags(self, match: re.Match[str]) -> str:
        """Return the page of a combination of tags, which links to longer combinations."""
        names = ("tools", "trees", "winter", "wood", *map(slug, self.company.categories))
        more = listing(link(f"/tags/?t={match[1]}+{name}", f"{match[1]} and {name}") for name in names)
        return self.frame(
            f"Tag: {match[1]}", f"{self.news_list(self.company.news[:3])}<h2>Narrow down</h2>{more}"
        )
