"""Physics: modern HTML5 with nav and aside, one flat list of people, publications by year."""

from __future__ import annotations

from wayhound.samples.department import News, Project, Publication, SampleCourse
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, paragraphs
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle
from wayhound.samples.traps import redirect_loop


class Physics(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        groups = listing(link(f"/research/{g.slug}/", g.area) for g in self.dept.groups)
        latest = listing(link(self.news_path(n), n.title) for n in self.dept.news[:3])
        return fill("physics.html", title=title, body=body, groups=groups, latest=latest)

    def person_path(self, person: SamplePerson) -> str:
        return f"/people/{person.slug}.html"

    def paper_path(self, paper: Publication) -> str:
        return f"/publications/{paper.year}/{paper.slug}.html"

    def course_path(self, course: SampleCourse) -> str:
        return f"/teaching/{course.code.lower()}.html"

    def project_path(self, project: Project) -> str:
        return f"/research/{slug(project.area)}/{slug(project.title)}.html"

    def news_path(self, news: News) -> str:
        return f"/news/{news.day:%Y-%m}-{news.slug}.html"

    def person(self, person: SamplePerson) -> str:
        papers, courses = self.dept.papers_of(person), self.dept.courses_of(person)
        return f"""<article class="profile"><h1>{person.name}</h1><p><strong>{person.position}</strong></p>
<p>{person.bio}</p><dl><dt>Room</dt><dd>{person.room}</dd><dt>Telephone</dt><dd>{person.phone}</dd>
<dt>E-mail</dt><dd><a href="mailto:{person.email}">{person.email}</a></dd></dl>
{"<h2>Interests</h2>" + listing(person.interests) if person.interests else ""}
{"<h2>Teaching</h2>" + self.course_list(courses) if courses else ""}
{"<h2>Publications</h2>" + self.paper_list(papers) if papers else ""}</article>"""

    def publication(self, paper: Publication) -> str:
        pdf = f"<p>{link(self.pdf_path(paper), 'Full text (PDF)')}</p>" if paper.has_pdf else ""
        return f"""<article><h1>{paper.title}</h1><p class="authors">{self.authors(paper.authors)}</p>
<p><cite>{paper.venue}</cite>, {paper.year}</p><h2>Abstract</h2><p>{paper.abstract}</p>{pdf}
<h2>References</h2>{self.references(paper)}</article>"""

    def course(self, course: SampleCourse) -> str:
        return f"""<article><h1>{course.title}</h1>
<p>{course.code}, taught by {self.person_link(course.teacher)}</p>
<p>{course.text}</p><h2>Lectures</h2>{listing(course.lectures, "ol")}</article>"""

    def project(self, project: Project) -> str:
        members = listing(self.person_link(p) for p in project.members)
        return f"""<article><h1>{project.title}</h1><p>{project.text}</p>
<p>Supported by the {project.funder}.</p><h2>Members</h2>{members}</article>"""

    def news(self, news: News) -> str:
        return (
            f"<article><h1>{news.title}</h1><time>{news.dated}</time>{paragraphs(news.paragraphs)}</article>"
        )

    def lists(self) -> None:
        dept, page = self.dept, self.site.page
        home = f"<h1>Welcome</h1><p>{dept.welcome}</p><h2>News</h2>{self.news_list(dept.news[:5])}"
        page("/", self.frame("Welcome", home), "home")
        page("/index.html", self.frame("Welcome", home), "home")  # the same page at a second URL
        page("/people/", self.frame("People", self.people()), "people")
        page("/teaching/", self.frame("Teaching", f"<h1>Teaching</h1>{self.course_list(dept.courses)}"))
        page("/news/", self.frame("News", f"<h1>News</h1>{self.news_list(dept.news)}"))
        areas = listing(link(f"/research/{g.slug}/", g.area) for g in dept.groups)
        page(
            "/research/",
            self.frame("Research", f"<h1>Research</h1>{areas}{self.project_list(dept.projects)}"),
        )
        for group in dept.groups:
            projects = self.project_list(p for p in dept.projects if p.area == group.area)
            members = listing(self.person_link(p) for p in group.members)
            body = f"<h1>{group.area}</h1><h2>Projects</h2>{projects}<h2>Members</h2>{members}"
            page(f"/research/{group.slug}/", self.frame(group.area, body))
        years = listing(link(f"/publications/{year}/", str(year)) for year in dept.years)
        body = f"<h1>Publications</h1><p>By year:</p>{years}"
        page("/publications/", self.frame("Publications", body), "publications")
        for year in dept.years:
            papers = self.paper_list(p for p in dept.publications if p.year == year)
            text = self.frame(f"Publications {year}", f"<h1>Publications {year}</h1>{papers}")
            page(f"/publications/{year}/", text, "publications")

    def people(self) -> str:
        parts = ["<h1>People</h1>"]
        for rank, heading in (("faculty", "Faculty"), ("student", "Graduate students"), ("staff", "Staff")):
            entries = (
                f"{self.person_link(p)} <small>{p.position}, room {p.room}</small>"
                for p in sorted(self.dept.people, key=lambda p: p.last)
                if p.rank == rank
            )
            parts.append(f"<h2>{heading}</h2>" + listing(entries, attributes='class="people"'))
        return "".join(parts)

    def extras(self) -> None:
        office = self.dept.office
        self.site.asset("/style.css", look("physics.css"), "text/css")
        self.site.robots("/internal/")
        self.site.page(
            "/internal/rota.html", self.frame("Coffee rota", "<h1>Coffee rota</h1><p>Internal.</p>")
        )
        self.site.redirect("/people", "/people/")
        redirect_loop(self.site, "/login", "/login/check")
        body = f"""<h1>Contact</h1><address>{office.name}<br>{office.street}<br>{office.town}</address>
<p>Telephone {office.phone}<br>E-mail <a href="mailto:{office.email}">{office.email}</a></p>"""
        self.site.contact("/contact.html", self.frame("Contact", body), office)
        gone = self.site.break_link("/about/history-1951.html")
        about = f"<h1>About us</h1><p>{self.dept.about}</p><p>{link(gone, 'Our history until 1951')}</p>"
        self.site.busy_page("/about.html", self.frame("About", about), "about")
        self.site.missing(self.frame("Not found", "<h1>Page not found</h1><p>There is nothing here.</p>"))
