"""Pumpen: German, XHTML of 2004, contact data in three places, one very long page."""

from __future__ import annotations

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import CompanyStyle


class Pumpen(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        return fill("pumpen.html", title=title, body=body, css=look("pumpen.css"))

    def person_path(self, person: SamplePerson) -> str:
        return f"/firma/{slug(person.last)}.html"

    def product_path(self, product: Product) -> str:
        return f"/produkte/{slug(product.category)}/{product.slug}.html"

    def news_path(self, news: News) -> str:
        return f"/aktuelles/{news.day.year}/{news.number}.html"

    def product(self, product: Product) -> str:
        facts = rows(
            [
                ["Baureihe", product.category],
                ["Werkstoff", product.material],
                ["Preis", f"{product.price * 10} Taler"],
            ]
        )
        return f"<p>{product.text}</p><table>{facts}</table><p>{link('index.html', product.category)}</p>"

    def news(self, news: News) -> str:
        return f"<p><b>{news.dated}</b></p>{paragraphs(news.paragraphs)}"

    def member(self, person: SamplePerson) -> str:
        reach = rows([["Telefon", person.phone], ["E-Mail", person.email]])
        return f"<p>{person.position}</p><p>{person.bio}</p><table>{reach}</table>"

    def lists(self) -> None:
        company, page = self.company, self.site.page
        start = f"<p>{company.about[0]}</p>{self.news_list(company.news[:4])}"
        page("/index.html", self.frame("Willkommen", start), "home")
        self.site.redirect("/", "/index.html", 302)
        lines = listing(link(f"{slug(c)}/index.html", c) for c in company.categories)
        page("/produkte/index.html", self.frame("Produkte", lines))
        for category in company.categories:
            text = self.frame(category, self.product_list(company.products_in(category)))
            page(f"/produkte/{slug(category)}/index.html", text)
        years = sorted({n.day.year for n in company.news}, reverse=True)
        page(
            "/aktuelles/index.html",
            self.frame("Aktuelles", listing(link(f"{y}/index.html", str(y)) for y in years)),
        )
        for year in years:
            items = self.news_list(n for n in company.news if n.day.year == year)
            page(f"/aktuelles/{year}/index.html", self.frame(f"Aktuelles {year}", items))

    def extras(self) -> None:
        company, page = self.company, self.site.page
        self.people_pages()
        more = listing(link(f"/service/{slug(title)}.html", title) for title, _ in company.extras)
        page("/firma/ueber-uns.html", self.frame("Über uns", paragraphs(company.about) + more), "about")
        people = rows([self.person_link(p), p.position, p.phone] for p in company.team)
        page(
            "/firma/ansprechpartner.html",
            self.frame("Ihre Ansprechpartner", f"<table>{people}</table>"),
            "team",
        )
        for title, text in company.extras:
            page(f"/service/{slug(title)}.html", self.frame(title, f"<p>{text}</p>"))
        self.contacts()
        self.long_page()
        self.site.missing(self.frame("Fehler 404", "<p>Die Seite wurde nicht gefunden.</p>"))

    def contacts(self) -> None:
        office = self.company.offices[0]
        where = f"<p>{office.name}<br />{office.street}<br />{office.town}<br />{office.country}</p>"
        reach = f"<p>Telefon {office.phone}<br />E-Mail {office.email}</p>"
        gone = link(self.site.break_link("/service/formular.php"), "Kontaktformular")
        self.site.contact(
            "/service/kontakt.html", self.frame("Kontakt", f"{where}{reach}<p>{gone}</p>"), office
        )
        self.site.contact("/service/impressum.html", self.frame("Impressum", where + reach), office)
        way = f"<p>Mit der Bahn bis Grauental Nord, dann zehn Minuten zu Fuß zur {office.street}.</p>"
        self.site.page("/service/anfahrt.html", self.frame("Anfahrt", way))

    def long_page(self) -> None:
        """Add a page with three thousand spare parts in one table."""
        pumps, parts = self.company.products, ("Dichtung", "Laufrad", "Welle", "Lager", "Schraube", "Deckel")
        table = rows(
            [f"ET-{i:05}", parts[i % len(parts)], pumps[i % len(pumps)].name, pumps[i % len(pumps)].material]
            for i in range(1, 3001)
        )
        self.site.page("/service/teileliste.html", self.frame("Ersatzteilliste", f"<table>{table}</table>"))
