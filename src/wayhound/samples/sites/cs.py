"""Computer science: tables and font tags of 1996 without classes, home pages under /~name/, reports."""

from __future__ import annotations

from wayhound.samples.department import Project, Publication, SampleCourse
from wayhound.samples.markup import fill, link, listing, obfuscate, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle
from wayhound.samples.traps import repeating_folder

RANKS = (("faculty", "Faculty"), ("student", "Grad Students"), ("staff", "Support Staff"))


class ComputerScience(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        return fill("cs.html", title=title, body=body)

    def homepage(self, person: SamplePerson, title: str, body: str) -> str:
        """Return a page by a person, without the department's frame."""
        colour = ("#FFFFEE", "#EEFFFF", "#C0C0C0", "#FFF0F5", "#FFFFFF")[person.number % 5]
        return f"""<html><head><title>{title}</title></head><body bgcolor="{colour}">{body}
<hr><a href="/">Dept. of CS</a></body></html>"""

    def person_page(self, person: SamplePerson) -> str:
        return self.homepage(person, f"{person.name}'s home page", self.person(person))

    def person_path(self, person: SamplePerson) -> str:
        return f"/~{person.login[1:]}/"

    def paper_path(self, paper: Publication) -> str:
        return f"/TR/{paper.year}/tr{paper.year % 100}-{paper.number:02}.html"

    def course_path(self, course: SampleCourse) -> str:
        return f"/courses/{course.code.lower()}/"

    def project_path(self, project: Project) -> str:
        return f"/research/{project.acronym}/"

    def person(self, person: SamplePerson) -> str:
        papers = self.dept.papers_of(person)
        own = f"<LI>{link('pubs.html', 'My papers')}" if papers else ""
        teaching = "".join(
            f"<LI>I teach {link(self.course_path(c), f'{c.code}, {c.title}')}"
            for c in self.dept.courses_of(person)
        )
        album = f"<LI>{link('photos/', 'Photos')} of my cat" if person.number % 9 == 4 else ""
        links = f"<LI>{link('links.html', 'Cool links')}" if person.number % 3 == 0 else ""
        return f"""<center><h1>{person.name}</h1><b>{person.position}</b><br>
Computer Science Dept., Port Larkin University</center><p>{person.bio}</p><ul>{own}{teaching}{album}
{links}</ul><pre>
Office: {person.room} Turing Annex
Phone:  {person.phone}
E-mail: {obfuscate(person.email)}</pre>"""

    def publication(self, paper: Publication) -> str:
        pdf = (
            f"<p>{link(self.pdf_path(paper), 'PDF')}</p>" if paper.has_pdf else "<p>(Paper copies only.)</p>"
        )
        return f"""<B>{self.authors(paper.authors)}</B><BR>Technical Report {paper.year}-{paper.number:02}.
Appeared in <I>{paper.venue}</I>, {paper.year}.
<BLOCKQUOTE><B>Abstract.</B> {paper.abstract}</BLOCKQUOTE>{pdf}"""

    def course(self, course: SampleCourse) -> str:
        return f"""<P><B>{course.code}: {course.title}</B></P>
<P>Instructor: {self.person_link(course.teacher)},
office {course.teacher.room}</P><P>{course.text}</P><P>{link("syllabus.html", "Syllabus")}</P>"""

    def project(self, project: Project) -> str:
        return f"""<P>{project.text}</P><P>Participants: {self.authors(project.members)}</P>
<P>Funding: {project.funder}</P>"""

    def lists(self) -> None:
        dept = self.dept
        menu = rows(
            [
                [
                    link("/faculty.html", "Faculty"),
                    link("/grads.html", "Grad Students"),
                    link("/staff.html", "Staff"),
                ],
                [
                    link("/courses/", "Courses"),
                    link("/research/", "Research Projects"),
                    link("/TR/", "Tech Reports"),
                ],
            ]
        )
        areas = listing(f"<B>{g.area}</B>, with {g.members[0].name} and others" for g in dept.groups)
        body = f"""<P>{dept.welcome}</P><TABLE BORDER=1 CELLPADDING=10 BGCOLOR="#EEEEEE">{menu}</TABLE>
<H3>Research areas</H3>{areas}<P>{link("/general.html", "General information")} about the department is
available on-line. This server was installed in 1994 and is maintained by volunteers.</P>"""
        self.site.page("/", self.frame(dept.title, body), "home")
        self.people_lists()
        self.site.page("/courses/", self.frame("Courses, Fall 1997", self.course_list(dept.courses)))
        self.site.page("/research/", self.frame("Research Projects", self.project_list(dept.projects)))
        years = listing(link(f"/TR/{year}/", f"Reports of {year}") for year in dept.years)
        self.site.page("/TR/", self.frame("Technical Reports", years), "publications")
        for year in dept.years:
            papers = self.paper_list(p for p in dept.publications if p.year == year)
            self.site.page(f"/TR/{year}/", self.frame(f"Technical Reports {year}", papers), "publications")

    def people_lists(self) -> None:
        for path, (rank, title) in zip(("/faculty.html", "/grads.html", "/staff.html"), RANKS, strict=True):
            people = [p for p in self.dept.people if p.rank == rank]
            cells = ([self.listed(p), p.position, p.room, p.phone] for p in people)
            body = f"<TABLE BORDER=1 CELLPADDING=3>{rows(cells)}</TABLE>"
            self.site.page(path, self.frame(title, body), "people")

    def listed(self, person: SamplePerson) -> str:
        home = self.person_path(person)
        return link(home[:-1] if person.rank == "student" else home, person.name)

    def extras(self) -> None:
        for person in self.dept.people:
            self.own_pages(person)
        for course in self.dept.courses:
            lectures = f"{listing(course.lectures, 'ol')}<P>{link('./', course.title)}</P>"
            path = f"{self.course_path(course)}syllabus.html"
            self.site.page(path, self.frame(f"{course.code} Syllabus", lectures))
        office, gone = self.dept.office, self.site.break_link("/admissions/apply96.html")
        body = f"""<P>{self.dept.about}</P><P>{office.street}<BR>{office.town}<BR>Phone {office.phone}<BR>
{office.email}</P><P>{link(gone, "How to apply")}</P>"""
        self.site.contact("/general.html", self.frame("General Information", body), office)
        self.site.missing("<HTML><BODY><H1>404 Not Found</H1>The requested URL was not found.</BODY></HTML>")

    def own_pages(self, person: SamplePerson) -> None:
        home, papers = self.person_path(person), self.dept.papers_of(person)
        if person.rank == "student":
            self.site.redirect(home[:-1], home)  # the list of students omits the slash
        if papers:
            body = f"<h1>Papers of {person.name}</h1>{self.paper_list(papers)}"
            self.site.page(f"{home}pubs.html", self.homepage(person, "My papers", body), "publications")
        if person.number % 3 == 0:
            friends = [p for p in self.dept.people if p.number % 7 == person.number % 7 and p is not person]
            body = f"<h1>Cool links</h1>{listing(self.person_link(p) + ' has a page' for p in friends)}"
            self.site.page(f"{home}links.html", self.homepage(person, f"Links of {person.first}", body))
        if person.number % 9 == 4:
            text = f"More pictures of the cat of {person.name}."
            repeating_folder(self.site, home, "photos", lambda t, b: self.homepage(person, t, b), text)
