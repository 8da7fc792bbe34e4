"""Mapworks: a consultancy of 2003 with a session id in every link and a contact page for each office."""

from __future__ import annotations

import re
from hashlib import md5

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs
from wayhound.samples.people import Office, SamplePerson
from wayhound.samples.sites.base import CompanyStyle

HREF = re.compile(r'href="(/[^"#]*)"')


class Mapworks(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        text = fill("mapworks.html", title=title, body=body, css=look("mapworks.css"))
        return self.with_session(title, text)

    def with_session(self, title: str, text: str) -> str:
        """Return the page with a new session id in its links, as from a server that gets no cookies."""
        session = md5(title.encode(), usedforsecurity=False).hexdigest()

        def add(match: re.Match[str]) -> str:
            joint = "&amp;" if "?" in match[1] else "?"
            return f'href="{match[1]}{joint}PHPSESSID={session}"'

        return HREF.sub(add, text)

    def person_path(self, person: SamplePerson) -> str:
        return f"/person.php?who={person.slug}"

    def product_path(self, product: Product) -> str:
        return f"/service.php?id={product.number}"

    def news_path(self, news: News) -> str:
        return f"/report.php?no={news.number}"

    def office_path(self, office: Office) -> str:
        return f"/office.php?town={office.slug.removeprefix('mapworks-')}"

    def product(self, product: Product) -> str:
        return (
            f"<dl><dt>Field</dt><dd>{product.category}</dd><dt>What you get</dt><dd>{product.text}</dd></dl>"
        )

    def news(self, news: News) -> str:
        return f"{paragraphs(news.paragraphs)}<p>{news.dated}, {self.person_link(news.author)}</p>"

    def member(self, person: SamplePerson) -> str:
        return f"""<dl><dt>Position</dt><dd>{person.position}</dd><dt>Phone</dt><dd>{person.phone}</dd>
<dt>Mail</dt><dd>{person.email}</dd></dl><p>{person.bio}</p>"""

    def lists(self) -> None:
        company, page = self.company, self.site.page
        start = f"<p>{company.about[0]}</p><p>Latest reports:</p>{self.news_list(company.news[:4])}"
        page("/", self.frame("Welcome", start), "home")
        fields = "".join(
            f"<dt>{c}</dt><dd>{self.product_list(company.products_in(c))}</dd>" for c in company.categories
        )
        page("/services.php", self.frame("Services", f"<dl>{fields}</dl>"))
        page("/reports.php", self.frame("Project reports", self.news_list(company.news)))

    def extras(self) -> None:
        company, page = self.company, self.site.page
        self.site.session_parameter = "PHPSESSID"
        self.people_pages()
        page("/people.php", self.frame("People", listing(map(self.person_link, company.team))), "team")
        gone = [self.site.break_link(f"/brochure{year}.php") for year in (1999, 2000, 2001)]
        old = listing(link(path, f"Brochure {path[9:13]}") for path in gone)
        more = listing(link(f"/info.php?page={slug(title)}", title) for title, _ in company.extras)
        page("/company.php", self.frame("Company", paragraphs(company.about) + more + old), "about")
        for title, text in company.extras:
            page(f"/info.php?page={slug(title)}", self.frame(title, f"<p>{text}</p>"))
        offices = listing(
            link(self.office_path(o), o.name.removeprefix("Mapworks ")) for o in company.offices
        )
        page("/offices.php", self.frame("Offices", f"<p>Choose the office next to you:</p>{offices}"))
        for office in company.offices:
            self.site.contact(self.office_path(office), self.frame(office.name, self.address(office)), office)
        self.site.missing("<html><body><h1>Object not found</h1></body></html>")

    def address(self, office: Office) -> str:
        return f"""<dl><dt>Address</dt><dd>{office.street}<br>{office.town}<br>{office.country}</dd>
<dt>Telephone</dt><dd>{office.phone}</dd><dt>Mail</dt><dd>{office.email}</dd></dl>"""
