"""Biology: a content management system of 2012 with /node/123, a paged directory with filters, soft 404s."""

from __future__ import annotations

from collections.abc import Iterable

from wayhound.samples.builder import Label
from wayhound.samples.department import News, Project, Publication, SampleCourse
from wayhound.samples.markup import fill, link, listing, look, obfuscate, paragraphs
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle
from wayhound.samples.traps import filter_links, filters

FILTERS = {
    "role": ("faculty", "student", "staff"),
    "sort": ("name", "room", "newest"),
    "letter": tuple("ABCDEFGH"),
    "view": ("list", "grid"),
}
PER_PAGE = 8


class Biology(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        recent = listing(link(self.news_path(n), n.title) for n in self.dept.news[:4])
        choices = filter_links("/directory", FILTERS, {})
        return fill("biology.html", title=title, body=body, recent=recent, filters=choices)

    def person_path(self, person: SamplePerson) -> str:
        return f"/node/{100 + person.number}"

    def paper_path(self, paper: Publication) -> str:
        return f"/node/{300 + paper.number}"

    def pdf_path(self, paper: Publication) -> str:
        return f"/sites/default/files/papers/{paper.slug}.pdf"

    def course_path(self, course: SampleCourse) -> str:
        return f"/node/{500 + self.dept.courses.index(course)}"

    def project_path(self, project: Project) -> str:
        return f"/node/{600 + self.dept.projects.index(project)}"

    def news_path(self, news: News) -> str:
        return f"/node/{700 + news.number}"

    def person(self, person: SamplePerson) -> str:
        papers, courses = self.dept.papers_of(person), self.dept.courses_of(person)
        topics = f'<div class="field field-interests">Interests: {", ".join(person.interests)}</div>'
        return f"""<div class="field field-position">{person.position}</div>
<div class="field field-body"><p>{person.bio}</p></div>{topics if person.interests else ""}
<div class="field field-mail">E-mail: {obfuscate(person.email, " [at] ")}</div>
<div class="field field-phone">Phone: {person.phone}</div>
<div class="field field-room">Room: {person.room}</div>
{"<h2>Modules</h2>" + self.course_list(courses) if courses else ""}
{"<h2>Papers</h2>" + self.paper_list(papers) if papers else ""}"""

    def publication(self, paper: Publication) -> str:
        file = f'<div class="field field-file">{link(self.pdf_path(paper), "Attachment: paper.pdf")}</div>'
        return f"""<div class="field field-authors">{self.authors(paper.authors)}</div>
<div class="field field-journal">{paper.venue} ({paper.year})</div>
<div class="field field-abstract"><p>{paper.abstract}</p></div>{file if paper.has_pdf else ""}"""

    def course(self, course: SampleCourse) -> str:
        return f"""<div class="field">Code: {course.code}</div><div class="field">Convenor:
{self.person_link(course.teacher)}</div><div class="field-body"><p>{course.text}</p></div>
{listing(course.lectures)}"""

    def project(self, project: Project) -> str:
        return f"""<div class="field-body"><p>{project.text}</p></div>
<div class="field">People: {self.authors(project.members)}</div>
<div class="field">Funder: {project.funder}</div>"""

    def news(self, news: News) -> str:
        by = f'<div class="submitted">Submitted by {self.person_link(news.author)} on {news.dated}</div>'
        return by + paragraphs(news.paragraphs)

    def lists(self) -> None:
        dept, page = self.dept, self.site.page
        front = f"<p>{dept.welcome}</p><p>{dept.about}</p>"
        page("/", self.frame("Welcome", front), "home")
        page("/node/1", self.frame("Welcome", front), "home")  # the same page at a second URL
        page("/research", self.frame("Research", self.rows_of(self.project_list([p]) for p in dept.projects)))
        page("/modules", self.frame("Modules", self.course_list(dept.courses)))
        people = [self.entry(p) for p in sorted(dept.people, key=lambda p: p.last)]
        self.paged("/directory", "Directory", people, "people")
        self.paged("/papers", "Papers", [self.paper_list([p]) for p in dept.publications], "publications")
        self.paged("/news", "News", [self.news_list([n]) for n in dept.news], "other")

    def entry(self, person: SamplePerson) -> str:
        return f'{self.person_link(person)} <span class="field-position">{person.position}</span>'

    def rows_of(self, entries: Iterable[str]) -> str:
        return "".join(f'<div class="views-row">{entry}</div>' for entry in entries)

    def paged(self, path: str, title: str, entries: list[str], label: Label) -> None:
        pages = range((len(entries) + PER_PAGE - 1) // PER_PAGE)
        address = [path if number == 0 else f"{path}?page={number}" for number in pages]
        for number in pages:
            body = self.rows_of(entries[number * PER_PAGE : (number + 1) * PER_PAGE])
            steps = [
                f"<strong>{i + 1}</strong>" if i == number else link(address[i], str(i + 1)) for i in pages
            ]
            if number + 1 < len(pages):
                steps.append(link(address[number + 1], "next ›", 'rel="next"'))
            text = self.frame(title, f'{body}<div class="pager">{"".join(steps)}</div>')
            self.site.page(address[number], text, label)

    def extras(self) -> None:
        office = self.dept.office
        self.site.asset("/sites/default/files/css/style.css", look("biology.css"), "text/css")
        shown = self.rows_of(self.entry(p) for p in self.dept.people[:6])
        filters(self.site, "/directory", FILTERS, self.frame, shown)
        body = f"""<div class="field-address">{office.street}<br>{office.town}</div>
<div class="field">Phone: {office.phone}</div><div class="field">E-mail: {obfuscate(office.email, " [at] ")}</div>"""
        self.site.contact("/node/2", self.frame("Find us", body), office)
        self.site.missing(
            self.frame("Page not found", "<p>The requested page could not be found.</p>"), status=200
        )
