"""Tea rooms: an image map and picture links of 1999, a guest book, folders that repeat for ever."""

from __future__ import annotations

from wayhound.samples.company import Product
from wayhound.samples.department import News
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, obfuscate, paragraphs, rows
from wayhound.samples.people import Office, SamplePerson
from wayhound.samples.sites.base import CompanyStyle
from wayhound.samples.traps import repeating_folder

SIGNS = (
    ("Menu", "/menu.htm", "Our menu"),
    ("News", "/news.htm", "Kettle news"),
    ("Staff", "/staff.htm", "The people behind the counter"),
    ("Visit us", "/visit.htm", "Visit us"),
    ("Guest book", "/guestbook/1.htm", "Guest book"),
)


def sign(text: str) -> str:
    """A picture of a word, as sites had them before they trusted fonts."""
    return fill("teahouse_sign.svg", text=text)


class Teahouse(CompanyStyle):
    def frame(self, title: str, body: str) -> str:
        bar = "".join(
            f'<a href="{href}"><img src="/pix/{slug(name)}.svg" alt="{alt}" border=0></a> '
            for name, href, alt in SIGNS
        )
        return fill("teahouse.html", title=title, body=body, bar=bar)

    def person_path(self, person: SamplePerson) -> str:
        return f"/staff/{slug(person.last)}.htm"

    def product_path(self, product: Product) -> str:
        return f"/menu/{slug(product.name, '_')}.htm"

    def news_path(self, news: News) -> str:
        return f"/news/{news.day:%y%m%d}.htm"

    def room_path(self, office: Office) -> str:
        return f"/visit/{office.slug.removeprefix('copper-kettle-')}.htm"

    def product(self, product: Product) -> str:
        return f"<p align=center><i>{product.category}, {product.price} pence</i></p><p>{product.text}</p>"

    def news(self, news: News) -> str:
        return f"<p align=center><i>{news.dated}</i></p>{paragraphs(news.paragraphs)}"

    def member(self, person: SamplePerson) -> str:
        return (
            f"<p align=center><b>{person.position}</b></p><p>{person.bio}</p><p>{obfuscate(person.email)}</p>"
        )

    def lists(self) -> None:
        company, page = self.company, self.site.page
        areas = "".join(
            f'<area shape="rect" coords="{135 * i},150,{135 * i + 130},200" href="{href}" alt="{alt}">'
            for i, (_, href, alt) in enumerate(SIGNS)
        )
        page("/", fill("teahouse_front.html", areas=areas, welcome=company.about[0]), "home")
        kinds = rows([[link(f"/menu/{slug(c)}.htm", f"<b>{c}</b>")] for c in company.categories])
        page(
            "/menu.htm",
            self.frame("Our menu", f"<center><table border=2 cellpadding=9>{kinds}</table></center>"),
        )
        for category in company.categories:
            page(
                f"/menu/{slug(category)}.htm",
                self.frame(category, self.product_list(company.products_in(category))),
            )
        page("/news.htm", self.frame("Kettle news", self.news_list(company.news)))

    def extras(self) -> None:
        company, page = self.company, self.site.page
        self.people_pages()
        people = listing(f"{self.person_link(p)}, {p.position.lower()}" for p in company.team)
        page("/staff.htm", self.frame("The people behind the counter", people), "team")
        more = listing(link(f"/info/{slug(title)}.htm", title) for title, _ in company.extras)
        page("/about.htm", self.frame("Our story", paragraphs(company.about) + more), "about")
        for title, text in company.extras:
            page(f"/info/{slug(title)}.htm", self.frame(title, f"<p>{text}</p>"))
        rooms = listing(link(self.room_path(o), o.name) for o in company.offices)
        page("/visit.htm", self.frame("Visit us", f"<p>Four tea rooms in four towns:</p>{rooms}"))
        for office in company.offices:
            self.site.contact(self.room_path(office), self.frame(office.name, self.address(office)), office)
        self.guest_book()
        self.pictures()
        repeating_folder(self.site, "/", "archive", self.frame, "This is how we looked last year.")
        gone = "<html><body bgcolor=white><h1>Sorry, not on the menu (404)</h1></body></html>"
        self.site.missing(gone)

    def address(self, office: Office) -> str:
        return f"""<table cellpadding=4>
<tr><th align=left>Address<td>{office.street}, {office.town}, {office.country}
<tr><th align=left>Telephone<td>{office.phone}<tr><th align=left>E-mail<td>{office.email}
<tr><th align=left>Open<td>Tuesday to Sunday, 10 to 6</table>"""

    def guest_book(self) -> None:
        """Add twelve pages of visitors' comments."""
        for number in range(1, 13):
            words = self.company.products[(number * 3) % len(self.company.products)]
            entries = f"<p>We had the {words.name} and stayed until closing time. <i>Two travellers</i></p>"
            entries += f"<p>My aunt says the {words.name} is better than hers. <i>A nephew</i></p>"
            onward = link(f"{number + 1}.htm", "Next page") if number < 12 else "This is the last page."
            self.site.page(
                f"/guestbook/{number}.htm", self.frame(f"Guest book, page {number}", entries + onward)
            )

    def pictures(self) -> None:
        for name, _, _ in SIGNS:
            self.site.asset(f"/pix/{slug(name)}.svg", sign(name), "image/svg+xml")
        boards = "".join(
            f'<g transform="translate({135 * i},156)">{sign(name)}</g>'
            for i, (name, _, _) in enumerate(SIGNS)
        )
        self.site.asset("/pix/front.svg", fill("teahouse_front.svg", boards=boards), "image/svg+xml")
        self.site.asset("/pix/kettle.svg", sign("Copper Kettle"), "image/svg+xml")
