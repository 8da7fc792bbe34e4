"""Velas: Spanish, a weblog of 2011 with ?p=123 URLs, soft 404s, contact data of two workshops."""

from __future__ import annotations

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, obfuscate, paragraphs
from wayhound.samples.people import Office, SamplePerson
from wayhound.samples.sites.base import CompanyStyle

PAGES = {"contacto": 2, "quienes": 3, "equipo": 4, "productos": 5, "archivo": 6}


class Velas(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        recent = listing(link(self.news_path(n), n.title) for n in self.company.news[:5])
        shelves = listing(link(f"/?cat={i}", c) for i, c in enumerate(self.company.categories, start=1))
        css = look("velas.css")
        return fill("velas.html", title=title, body=body, recent=recent, shelves=shelves, css=css)

    def person_path(self, person: SamplePerson) -> str:
        return f"/?autor={person.slug}"

    def product_path(self, product: Product) -> str:
        return f"/?producto={product.slug}"

    def news_path(self, news: News) -> str:
        return f"/?p={100 + news.number}"

    def product(self, product: Product) -> str:
        return f"""<h2>{product.name}</h2><p class="entry-meta">{product.category}</p><p>{product.text}</p>
<p>Precio orientativo: {product.price * 5} escudos.
{link(f"/?page_id={PAGES['contacto']}", "Pide presupuesto")}.</p>"""

    def news(self, news: News) -> str:
        return f"{self.heading(news)}{paragraphs(news.paragraphs)}"

    def heading(self, news: News) -> str:
        meta = f'<p class="entry-meta">{news.dated}, por {self.person_link(news.author)}</p>'
        return f"<h2>{link(self.news_path(news), news.title)}</h2>{meta}"

    def member(self, person: SamplePerson) -> str:
        posts = self.news_list(n for n in self.company.news if n.author is person)
        return f"<h2>{person.name}</h2><p>{person.position}</p><p>{person.bio}</p><h3>Entradas</h3>{posts}"

    def lists(self) -> None:
        company = self.company
        for number, start in enumerate(range(0, len(company.news), 6), start=1):
            self.blog_page(number, start)
        for number, category in enumerate(company.categories, start=1):
            body = f"<h2>{category}</h2>{self.product_list(company.products_in(category))}"
            body += self.news_list(n for n in company.news if n.tag == category)
            self.site.page(f"/?cat={number}", self.frame(category, body))
        self.site.page(
            f"/?page_id={PAGES['productos']}", self.frame("Productos", self.product_list(company.products))
        )
        self.site.page(f"/?page_id={PAGES['archivo']}", self.frame("Noticias", self.news_list(company.news)))

    def blog_page(self, number: int, start: int) -> None:
        news = self.company.news
        body = "".join(f"{self.heading(n)}<p>{n.paragraphs[0]}</p>" for n in news[start : start + 6])
        if start + 6 < len(news):
            body += f"<p>{link(f'/?paged={number + 1}', '« Entradas más antiguas')}</p>"
        if number == 1:
            self.site.page("/", self.frame(self.company.tagline, body), "home")
        else:
            self.site.page(f"/?paged={number}", self.frame("Blog", body))

    def extras(self) -> None:
        company, page = self.company, self.site.page
        self.people_pages()
        team = f"/?page_id={PAGES['equipo']}"
        about = f"<h2>Quiénes somos</h2>{paragraphs(company.about)}<p>{link(team, 'Nuestro equipo')}</p>"
        about += listing(link(f"/?info={slug(title)}", title) for title, _ in company.extras)
        page(f"/?page_id={PAGES['quienes']}", self.frame("Quiénes somos", about), "about")
        people = listing(f"{self.person_link(p)}, {p.position}" for p in company.team)
        page(team, self.frame("Nuestro equipo", f"<h2>Nuestro equipo</h2>{people}"), "team")
        for title, text in company.extras:
            page(f"/?info={slug(title)}", self.frame(title, f"<h2>{title}</h2><p>{text}</p>"))
        body = "".join(map(self.address, company.offices))
        self.site.contact(
            f"/?page_id={PAGES['contacto']}",
            self.frame("Contacto", f"<h2>Contacto</h2>{body}"),
            *company.offices,
        )
        self.site.missing(
            self.frame("No encontrado", "<h2>No encontrado</h2><p>La página no existe.</p>"), status=200
        )

    def address(self, office: Office) -> str:
        return f"""<h3>{office.name}</h3><p>{office.street}<br>{office.town} ({office.country})<br>
Teléfono: {office.phone}<br>Correo: {obfuscate(office.email, " (arroba) ")}</p>"""
