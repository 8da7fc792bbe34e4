"""Linguistique: French, breadcrumbs and cards of 2018, URLs with accents and without extensions."""

from __future__ import annotations

from urllib.parse import quote

from wayhound.samples.department import News, Project, Publication, SampleCourse
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle
from wayhound.samples.traps import endless_calendar

TEAM = quote("/équipe")
MENU = (
    (TEAM, "Équipe"),
    ("/recherche", "Recherche"),
    ("/publications", "Publications"),
    ("/enseignement", "Enseignement"),
    (quote("/actualités"), "Actualités"),
    ("/agenda/2024/12", "Agenda"),
    ("/contact", "Contact"),
)
INVITATIONS = (
    "Chercheurs, doctorants et personnel d'appui.",
    "Nos projets en cours, financés ou non.",
    "Articles et actes, souvent en texte intégral.",
    "Cours, séminaires et ateliers de l'année.",
    "Conférences, soutenances et portes ouvertes.",
    "Le séminaire du jeudi et les autres rendez-vous.",
    "Nous écrire, nous appeler, nous trouver.",
)


class Linguistique(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        return self.crumbed(title, body, ())

    def crumbed(self, title: str, body: str, trail: tuple[tuple[str, str], ...]) -> str:
        crumbs = "".join(f"{link(*step)} › " for step in trail)
        menu = " ".join(link(href, text) for href, text in MENU)
        css = look("linguistique.css")
        return fill("linguistique.html", title=title, body=body, crumbs=crumbs, menu=menu, css=css)

    def card(self, href: str, title: str, text: str, mark: str = "") -> str:
        avatar = f'<span class="avatar">{mark}</span>' if mark else ""
        return f'<div class="card">{avatar}<h3>{link(href, title)}</h3><p>{text}</p></div>'

    def person_path(self, person: SamplePerson) -> str:
        return f"{TEAM}/{quote(person.name.lower().replace(' ', '-'))}"

    def paper_path(self, paper: Publication) -> str:
        return f"/publications/{paper.slug}"

    def course_path(self, course: SampleCourse) -> str:
        return f"/enseignement/{course.code.lower()}"

    def project_path(self, project: Project) -> str:
        return f"/recherche/{slug(project.title)}"

    def news_path(self, news: News) -> str:
        return f"{quote('/actualités')}/{news.number}-{news.slug}"

    def person_page(self, person: SamplePerson) -> str:
        return self.crumbed(person.name, self.person(person), ((TEAM, "Équipe"),))

    def person(self, person: SamplePerson) -> str:
        papers, courses = self.dept.papers_of(person), self.dept.courses_of(person)
        return f"""<p><em>{person.position}</em></p><p>{person.bio}</p>
<div class="card"><p>Bureau {person.room}<br>Tél. {person.phone}<br>Courriel : {person.email}</p></div>
{"<h2>Cours</h2>" + self.course_list(courses) if courses else ""}
{"<h2>Publications</h2>" + self.paper_list(papers) if papers else ""}"""

    def publication(self, paper: Publication) -> str:
        pdf = f"<p>{link(self.pdf_path(paper), 'Télécharger (PDF)')}</p>" if paper.has_pdf else ""
        return f"""<p>{self.authors(paper.authors)} ({paper.year}). <em>{paper.venue}</em>.</p>
<h2>Résumé</h2><blockquote>{paper.abstract}</blockquote>{pdf}<h2>Bibliographie</h2>{self.references(paper)}"""

    def course(self, course: SampleCourse) -> str:
        return f"""<p>{course.code} · {self.person_link(course.teacher)}</p><p>{course.text}</p>
<h2>Programme</h2>{listing(course.lectures, "ol")}"""

    def project(self, project: Project) -> str:
        return f"""<p>{project.text}</p><p>Financement : {project.funder}.</p>
<h2>Participants</h2>{listing(self.person_link(p) for p in project.members)}"""

    def news(self, news: News) -> str:
        return f"<p><strong>{news.dated}</strong></p>{paragraphs(news.paragraphs)}"

    def lists(self) -> None:
        dept, page = self.dept, self.site.page
        cards = "".join(self.card(*entry, text) for entry, text in zip(MENU, INVITATIONS, strict=True))
        page("/", self.frame(dept.title, f'<p>{dept.welcome}</p><div class="cards">{cards}</div>'), "home")
        page(TEAM, self.frame("Équipe", self.team()), "people")
        self.card_page(
            "/recherche", "Recherche", [(self.project_path(p), p.title, p.area) for p in dept.projects]
        )
        courses = [(self.course_path(c), c.title, f"{c.code}, {c.teacher.name}") for c in dept.courses]
        self.card_page("/enseignement", "Enseignement", courses)
        self.card_page(MENU[4][0], "Actualités", [(self.news_path(n), n.title, n.dated) for n in dept.news])
        for number, start in enumerate(range(0, len(dept.publications), 12), start=1):
            self.publication_page(number, start)

    def card_page(self, path: str, title: str, cards: list[tuple[str, str, str]]) -> None:
        body = "".join(self.card(*card) for card in cards)
        self.site.page(path, self.frame(title, f'<div class="cards">{body}</div>'))

    def team(self) -> str:
        sections = (("faculty", "Chercheurs"), ("student", "Doctorants et étudiants"), ("staff", "Appui"))
        return "".join(
            f'<h2>{heading}</h2><div class="cards">'
            + "".join(
                self.card(self.person_path(p), p.name, p.position, p.first[0] + p.last[0])
                for p in self.dept.people
                if p.rank == rank
            )
            + "</div>"
            for rank, heading in sections
        )

    def publication_page(self, number: int, start: int) -> None:
        papers, more = self.dept.publications[start : start + 12], start + 12 < len(self.dept.publications)
        onward = f"<p>{link(f'/publications?page={number + 1}', 'Suite')}</p>" if more else ""
        path = "/publications" if number == 1 else f"/publications?page={number}"
        self.site.page(path, self.frame("Publications", self.paper_list(papers) + onward), "publications")

    def extras(self) -> None:
        office = self.dept.office
        endless_calendar(
            self.site,
            "/agenda/{year}/{month}",
            self.frame,
            self.dept.months,
            ("Mois précédent", "Mois suivant"),
        )
        body = (
            f"<p>{office.street}<br>{office.town}</p><p>Tél. {office.phone}<br>Courriel : {office.email}</p>"
        )
        self.site.contact("/contact", self.frame("Contact", body), office)
        self.site.page("/mentions", self.frame("Mentions légales", f"<p>{self.dept.about}</p>"), "about")
        self.site.missing(self.frame("Page introuvable", "<p>Cette page n'existe pas.</p>"))
