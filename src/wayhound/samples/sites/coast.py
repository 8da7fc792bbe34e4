"""Coastal research: a blog whose posts announce papers, with authors as people and an endless calendar."""

from __future__ import annotations

from collections.abc import Iterable

from wayhound.samples.builder import Label
from wayhound.samples.department import News, Project, Publication, SampleCourse
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle
from wayhound.samples.traps import endless_calendar

PER_PAGE = 6


class Coast(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        months = sorted({n.day.strftime("%Y/%m") for n in self.dept.news}, reverse=True)[:6]
        archive = " · ".join(link(f"/{month}/", month) for month in months)
        return fill("coast.html", title=title, body=body, archive=archive, css=look("coast.css"))

    def person_path(self, person: SamplePerson) -> str:
        return f"/author/{person.slug}/"

    def paper_path(self, paper: Publication) -> str:
        return f"/papers/{paper.slug}/"

    def course_path(self, course: SampleCourse) -> str:
        return f"/courses/{slug(course.title)}/"

    def project_path(self, project: Project) -> str:
        return f"/projects/{slug(project.title)}/"

    def news_path(self, news: News) -> str:
        return f"/{news.day:%Y/%m}/{news.slug}/"

    def person(self, person: SamplePerson) -> str:
        posts = [n for n in self.dept.news if n.author is person]
        papers = self.dept.papers_of(person)
        return f"""<div class="author vcard"><h2>{person.name}</h2><p class="meta">{person.position}</p>
<p>{person.bio}</p>
<p class="meta">{person.email} · {person.phone}</p></div>
{"<h3>Papers</h3>" + self.paper_list(papers) if papers else ""}
{"<h3>Posts</h3>" + self.news_list(posts) if posts else ""}"""

    def publication(self, paper: Publication) -> str:
        pdf = f"<p>{link(self.pdf_path(paper), 'Read the paper')} (PDF)</p>" if paper.has_pdf else ""
        return f"""<div class="post"><h2>{paper.title}</h2><p class="meta">{self.authors(paper.authors)},
{paper.venue}, {paper.year}</p><p><strong>In short.</strong> {paper.abstract}</p>
{pdf}{self.references(paper)}</div>"""

    def course(self, course: SampleCourse) -> str:
        return f"""<h2>{course.title}</h2><p>With {self.person_link(course.teacher)}. {course.text}</p>
{listing(course.lectures)}"""

    def project(self, project: Project) -> str:
        return f"<h2>{project.title}</h2><p>{project.text}</p><p>Team: {self.authors(project.members)}</p>"

    def news(self, news: News) -> str:
        return self.post(news, "".join(paragraphs(news.paragraphs)) + self.announced(news))

    def announced(self, news: News) -> str:
        """Every post points to a paper of its author, where there is one."""
        papers = self.dept.papers_of(news.author)
        return (
            f"<p>See also our paper {link(self.paper_path(papers[0]), papers[0].title)}.</p>"
            if papers
            else ""
        )

    def post(self, news: News, body: str) -> str:
        tag = f'<span class="tags">{link(f"/tag/{slug(news.tag)}/", news.tag)}</span>'
        return f"""<div class="post"><h2>{link(self.news_path(news), news.title)}</h2>
<p class="meta">{news.dated} by {self.person_link(news.author)} {tag}</p>{body}</div>"""

    def teaser(self, news: News) -> str:
        return self.post(news, f"<p>{news.paragraphs[0]}</p>")

    def lists(self) -> None:
        dept, page = self.dept, self.site.page
        for start in range(0, len(dept.news), PER_PAGE):
            self.front(start // PER_PAGE + 1, start)
        for group in dept.groups:
            self.stream(f"/tag/{group.slug}/", group.area, (n for n in dept.news if n.tag == group.area))
        for month in sorted({n.day.strftime("%Y/%m") for n in dept.news}):
            self.stream(f"/{month}/", month, (n for n in dept.news if n.day.strftime("%Y/%m") == month))
        faces = paragraphs(f"{self.person_link(p)}, {p.position.lower()}: {p.bio}" for p in dept.people)
        page("/who-we-are/", self.frame("Who we are", f"<h2>Who we are</h2>{faces}"), "people")
        page(
            "/papers/",
            self.frame("Papers", f"<h2>Papers</h2>{self.paper_list(dept.publications)}"),
            "publications",
        )
        page("/projects/", self.frame("Projects", f"<h2>Projects</h2>{self.project_list(dept.projects)}"))
        page("/courses/", self.frame("Courses", f"<h2>Courses</h2>{self.course_list(dept.courses)}"))

    def front(self, number: int, start: int) -> None:
        posts = "".join(self.teaser(n) for n in self.dept.news[start : start + PER_PAGE])
        more = start + PER_PAGE < len(self.dept.news)
        older = f'<p class="older">{link(f"/page/{number + 1}/", "Older posts")}</p>' if more else ""
        label: Label = "home" if number == 1 else "other"
        self.site.page("/" if number == 1 else f"/page/{number}/", self.frame("Blog", posts + older), label)

    def stream(self, path: str, title: str, posts: Iterable[News]) -> None:
        self.site.page(path, self.frame(title, f"<h2>{title}</h2>{''.join(map(self.teaser, posts))}"))

    def extras(self) -> None:
        office = self.dept.office
        steps = ("« earlier", "later »")
        endless_calendar(self.site, "/calendar/{year}/{month}/", self.frame, self.dept.months, steps)
        body = f"""<h2>Say hello</h2><p>{self.dept.about}</p>
<p>Write to {office.email} or call {office.phone}.
You will find us at {office.street}, {office.town}.</p>"""
        self.site.contact("/say-hello/", self.frame("Say hello", body), office)
        self.site.missing(self.frame("Lost at sea", "<h2>Lost at sea</h2><p>No such page.</p>"))
