"""Lanterns: a modern shop with cards, endless filters, and a basket that robots.txt disallows."""

from __future__ import annotations

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, look, paragraphs
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import CompanyStyle
from wayhound.samples.traps import filter_links, filters

FILTERS = {
    "colour": ("brass", "black", "green", "red"),
    "size": ("small", "medium", "large"),
    "sort": ("price", "name", "newest"),
    "stock": ("yes", "no"),
}
GLOW = ("#ffcf70", "#ffe08a", "#ffb55a", "#ffd2a8")


def picture(number: int) -> str:
    return fill("lantern.svg", glow=GLOW[number % 4])


class Lanterns(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        help_pages = " ".join(link(f"/help/{slug(name)}", name) for name, _ in self.company.extras)
        return fill("lanterns.html", title=title, body=body, help=help_pages)

    def wrapped(self, title: str, body: str) -> str:
        return self.frame(title, f'<div class="wrap"><h1>{title}</h1>{body}</div>')

    def person_path(self, person: SamplePerson) -> str:
        return f"/about/our-team#{person.slug}"

    def product_path(self, product: Product) -> str:
        return f"/shop/{product.slug}"

    def news_path(self, news: News) -> str:
        return f"/journal/{news.number}-{news.slug}"

    def product(self, product: Product) -> str:
        return f"""<div class="wrap split"><div>{picture(product.number)}</div><div><h1>{product.name}</h1>
<p class="price">{product.price}.00 crowns</p><p>{product.text}</p><p>{
            link(f"/shop/in/{slug(product.category)}", product.category)
        }</p><p>{link("/cart/add", "Add to basket", 'rel="nofollow"')}</p></div></div>"""

    def news(self, news: News) -> str:
        return (
            f'<div class="wrap"><h1>{news.title}</h1><p>{news.dated}</p>{paragraphs(news.paragraphs)}</div>'
        )

    def tiles(self, products: list[Product]) -> str:
        return '<div class="grid">' + "".join(map(self.tile, products)) + "</div>"

    def tile(self, product: Product) -> str:
        text = f'{picture(product.number)}{product.name}<br><span class="price">{product.price} crowns</span>'
        return link(self.product_path(product), text, 'class="tile"')

    def lists(self) -> None:
        company, page = self.company, self.site.page
        since = f"<p>Made in Port Larkin since {company.founded}.</p>"
        hero = f'<div class="hero"><h1>{company.tagline}</h1>{since}</div>'
        page(
            "/",
            self.frame("Welcome", f'{hero}<div class="wrap">{self.tiles(list(company.products[:8]))}</div>'),
            "home",
        )
        shelves = " · ".join(link(f"/shop/in/{slug(c)}", c) for c in company.categories)
        choose = f'<div class="filters">{filter_links("/shop", FILTERS, {})}</div>'
        page("/shop", self.wrapped("Shop", f"<p>{shelves}</p>{choose}{self.tiles(list(company.products))}"))
        for category in company.categories:
            text = self.wrapped(category, self.tiles(company.products_in(category)))
            page(f"/shop/in/{slug(category)}", text)
        filters(self.site, "/shop", FILTERS, self.wrapped, self.tiles(list(company.products[5:9])))
        page("/journal", self.wrapped("Journal", self.news_list(company.news)))

    def extras(self) -> None:
        company, office = self.company, self.company.offices[0]
        self.site.asset("/assets/shop.css", look("lanterns.css"), "text/css")
        self.site.robots("/cart/")
        self.site.page("/cart/", self.wrapped("Basket", "<p>Your basket is empty.</p>"))
        self.site.page("/cart/add", self.wrapped("Basket", "<p>Added.</p>"))
        about = paragraphs(company.about) + f"<p>{link('/about/our-team', 'Meet our team')}</p>"
        self.site.page("/about", self.wrapped("About us", about), "about")
        team = "".join(
            f'<div class="tile" id="{p.slug}"><b>{p.name}</b><br>{p.position}<p>{p.bio}</p>{p.email}</div>'
            for p in company.team
        )
        text = self.wrapped("Our team", f'<div class="grid">{team}</div>')
        self.site.team("/about/our-team", text, company.team)
        body = f"""<p>Write, call or knock.</p>
<p>{office.name}<br>{office.street}<br>{office.town}<br>{office.country}</p>
<p>Phone: <a href="tel:{office.phone}">{office.phone}</a><br>
E-mail: <a href="mailto:{office.email}">{office.email}</a></p>"""
        self.site.contact("/contact-us", self.wrapped("Contact us", body), office)
        for title, text in company.extras:
            self.site.page(f"/help/{slug(title)}", self.wrapped(title, f"<p>{text}</p>"))
        self.site.missing(self.wrapped("Dark in here", "<p>Page not found.</p>"))
