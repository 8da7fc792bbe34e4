"""Informatik: German, box layout of 2006, people by research group, person.php?id=17, print versions."""

from __future__ import annotations

import re

from wayhound.samples.department import News, Project, Publication, ResearchGroup, SampleCourse
from wayhound.samples.markup import fill, link, listing, look, paragraphs, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle


class Informatik(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        return fill("informatik.html", title=title, body=body)

    def person_path(self, person: SamplePerson) -> str:
        return f"/person.php?id={person.number}"

    def paper_path(self, paper: Publication) -> str:
        return f"/publikation.php?nr={paper.number}"

    def pdf_path(self, paper: Publication) -> str:
        return f"/pdf/{paper.year}_{paper.number}.pdf"

    def course_path(self, course: SampleCourse) -> str:
        return f"/veranstaltung.php?kuerzel={course.code}"

    def project_path(self, project: Project) -> str:
        return f"/projekt.php?name={project.acronym}"

    def news_path(self, news: News) -> str:
        return f"/meldung.php?id={news.number}"

    def person(self, person: SamplePerson) -> str:
        papers, courses = self.dept.papers_of(person), self.dept.courses_of(person)
        facts = rows([["Raum", person.room], ["Telefon", person.phone], ["E-Mail", person.email]])
        return f"""<p><b>{person.position}</b></p><p>{person.bio}</p><table class="liste">{facts}</table>
{"<h2>Lehre</h2>" + self.course_list(courses) if courses else ""}
{"<h2>Veröffentlichungen</h2>" + self.paper_list(papers) if papers else ""}"""

    def publication(self, paper: Publication) -> str:
        pdf = f"<p>{link(self.pdf_path(paper), 'Volltext (PDF)')}</p>" if paper.has_pdf else ""
        return f"""<p>{self.authors(paper.authors)}</p><p><i>{paper.venue}</i>, {paper.year}</p>
<h2>Zusammenfassung (englisch)</h2><p>{paper.abstract}</p>{pdf}<h2>Literatur</h2>{self.references(paper)}"""

    def course(self, course: SampleCourse) -> str:
        return f"""<p>{course.code}, gehalten von {self.person_link(course.teacher)}</p><p>{course.text}</p>
<h2>Termine</h2>{listing(course.lectures, "ol")}"""

    def project(self, project: Project) -> str:
        return f"""<p>{project.text}</p><p>Gefördert durch: {project.funder}</p>
<p>Beteiligte: {self.authors(project.members)}</p>"""

    def news(self, news: News) -> str:
        back = link("/aktuelles.php", "Zurück")
        return f"<p><b>{news.dated}</b></p>{paragraphs(news.paragraphs)}<p>{back}</p>"

    def lists(self) -> None:
        dept, page = self.dept, self.site.page
        start = f"<p>{dept.welcome}</p><p>{dept.about}</p><h2>Aktuelles</h2>{self.news_list(dept.news[:4])}"
        page("/", self.frame("Willkommen", start), "home")
        page("/lehre.php", self.frame("Lehrveranstaltungen", self.course_list(dept.courses)))
        page("/projekte.php", self.frame("Projekte", self.project_list(dept.projects)))
        page("/aktuelles.php", self.frame("Aktuelles", self.news_list(dept.news)))
        groups = listing(link(f"/ag.php?ag={g.slug}", f"AG {g.area}") for g in dept.groups)
        groups += f"<p>{link('/verwaltung.php', 'Sekretariat und Technik')}</p>"
        page("/arbeitsgruppen.php", self.frame("Arbeitsgruppen", groups))
        for group in dept.groups:
            self.group(group)
        page(
            "/verwaltung.php",
            self.frame("Sekretariat und Technik", self.table(dept.ranked("staff"))),
            "people",
        )
        years = listing(link(f"/publikationen.php?jahr={year}", str(year)) for year in dept.years)
        page("/publikationen.php", self.frame("Veröffentlichungen", years), "publications")
        for year in dept.years:
            papers = self.paper_list(p for p in dept.publications if p.year == year)
            text = self.frame(f"Veröffentlichungen {year}", papers)
            page(f"/publikationen.php?jahr={year}", text, "publications")

    def group(self, group: ResearchGroup) -> None:
        projects = self.project_list(p for p in self.dept.projects if p.area == group.area)
        staff = f"/mitarbeiter.php?ag={group.slug}"
        body = f"<p>{link(staff, 'Mitarbeiterinnen und Mitarbeiter')}</p><h2>Projekte</h2>{projects}"
        self.site.page(f"/ag.php?ag={group.slug}", self.frame(f"AG {group.area}", body))
        text = self.frame(f"Mitarbeiter der AG {group.area}", self.table(group.members))
        self.site.page(staff, text, "people")

    def table(self, people: tuple[SamplePerson, ...] | list[SamplePerson]) -> str:
        return (
            f'<table class="liste">{rows([self.person_link(p), p.position, p.phone] for p in people)}</table>'
        )

    def extras(self) -> None:
        office = self.dept.office
        self.site.asset("/stil.css", look("informatik.css"), "text/css")
        where = f"<p>{office.name}<br>{office.street}<br>{office.town}</p>"
        reach = f"<p>Telefon: {office.phone}<br>E-Mail: {office.email}</p>"
        self.site.contact("/kontakt.php", self.frame("Kontakt", where + reach), office)
        law = f"<p>Angaben gemäß Gesetz:</p>{where}{reach}<p>{self.dept.about}</p>"
        self.site.contact("/impressum.php", self.frame("Impressum", law), office)
        self.site.trap(r"(/[^?]*)\?(?:.*&)?druck=1.*", self.print_version)
        self.site.missing(self.frame("Nicht gefunden", "<p>Diese Seite gibt es nicht.</p>"))

    def print_version(self, match: re.Match[str]) -> str:
        """Return a print version, which links to a print version of itself."""
        again = link("?druck=1&amp;druck=1", "Drucken")
        return f"<html><body><p>Druckversion von {match[1]}</p>{again}</body></html>"
