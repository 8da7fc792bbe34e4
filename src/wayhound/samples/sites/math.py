"""Mathematics: a frameset of 1997, people by letter, /staff/j_smith/index.htm, a base element."""

from __future__ import annotations

from itertools import groupby

from wayhound.samples.department import Project, Publication, SampleCourse
from wayhound.samples.grammar import slug
from wayhound.samples.markup import fill, link, listing, look, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle


class Mathematics(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        return fill("math.html", title=title, body=body, base="")

    def person_path(self, person: SamplePerson) -> str:
        return f"/staff/{slug(person.first)[0]}_{slug(person.last, '')}/index.htm"

    def paper_path(self, paper: Publication) -> str:
        return f"/preprints/{paper.year % 100}-{paper.number:02}.htm"

    def pdf_path(self, paper: Publication) -> str:
        return self.paper_path(paper).removesuffix(".htm") + ".pdf"

    def course_path(self, course: SampleCourse) -> str:
        return f"/lectures/{course.code}.htm"

    def project_path(self, project: Project) -> str:
        return f"/grants/{project.acronym.lower()}.htm"

    def person_page(self, person: SamplePerson) -> str:
        """Return a page that was moved from another folder and patched with a base element."""
        return fill("math.html", title=person.name, body=self.person(person), base='<BASE HREF="/">')

    def person_link(self, person: SamplePerson) -> str:
        return link(self.person_path(person), f"{person.last}, {person.first}")

    def person(self, person: SamplePerson) -> str:
        papers = "".join(
            f"<DT>{link(self.paper_path(p)[1:], p.title)}<DD>{p.by}, {p.year}"
            for p in self.dept.papers_of(person)
        )
        courses = "".join(
            f"<LI>{link(self.course_path(c)[1:], c.title)}</LI>" for c in self.dept.courses_of(person)
        )
        return f"""<CENTER><I>{person.position}</I></CENTER>
<P>{person.bio}</P>
<TABLE><TR><TH ALIGN=left>Room<TD>{person.room}<TR><TH ALIGN=left>Telephone<TD>{person.phone}
<TR><TH ALIGN=left>Mail<TD>{person.email}</TABLE>
{f"<H3>Lectures</H3><UL>{courses}</UL>" if courses else ""}
{f"<H3>Preprints</H3><DL>{papers}</DL>" if papers else ""}"""

    def publication(self, paper: Publication) -> str:
        pdf = f"<LI>{link(self.pdf_path(paper), 'Get the paper')} (PDF)" if paper.has_pdf else ""
        return f"""<H3 ALIGN=center>{paper.by}</H3><P>{paper.abstract}</P>
<UL><LI>{paper.venue} ({paper.year}){pdf}<LI>{link("index.htm", "All preprints")}</UL>"""

    def course(self, course: SampleCourse) -> str:
        weeks = rows([f"Week {i}", lecture] for i, lecture in enumerate(course.lectures, start=1))
        return f"""<P>Lecturer: {self.person_link(course.teacher)}</P><P>{course.text}</P>
<TABLE BORDER CELLPADDING=4>{weeks}</TABLE>"""

    def project(self, project: Project) -> str:
        members = listing(self.person_link(p) for p in project.members)
        return f"<P>{project.text}</P><P>Paid for by the {project.funder}.</P>{members}"

    def lists(self) -> None:
        self.site.page("/", look("math_frames.html"), "home")
        self.site.page("/menu.htm", look("math_menu.html"))
        self.letters()
        page, dept = self.site.page, self.dept
        areas = listing(f"<B>{g.area}</B>: {', '.join(p.last for p in g.members)}" for g in dept.groups)
        welcome = f"<P>{dept.welcome}</P><P>{dept.about}</P><H3>Who works on what</H3>{areas}"
        page("/welcome.htm", self.frame("Welcome", welcome), "about")
        page("/courses.htm", self.frame("Lectures", self.course_list(dept.courses)))
        page("/projects.htm", self.frame("Grants", self.project_list(dept.projects)))
        years = " ".join(link(f"y{year}.htm", str(year)) for year in dept.years)
        page("/preprints/index.htm", self.frame("Preprints", f"<P ALIGN=center>{years}</P>"), "publications")
        for year in dept.years:
            papers = listing(
                f"{p.by}, {link(self.paper_path(p), p.title)}" for p in dept.publications if p.year == year
            )
            page(f"/preprints/y{year}.htm", self.frame(f"Preprints {year}", papers), "publications")

    def letters(self) -> None:
        people = sorted(self.dept.people, key=lambda p: (slug(p.last), p.first))
        by_letter = {letter: list(members) for letter, members in groupby(people, lambda p: slug(p.last)[0])}
        bar = " ".join(
            link(f"/people/{x}.htm", x.upper()) if x in by_letter else x.upper()
            for x in "abcdefghijklmnopqrstuvwxyz"
        )
        self.site.page("/people/index.htm", self.frame("Members A-Z", f"<P ALIGN=center>{bar}</P>"), "people")
        for letter, members in by_letter.items():
            entries = listing(f"{self.person_link(p)}, <I>{p.position}</I>" for p in members)
            text = self.frame(f"Members: {letter.upper()}", f"<P ALIGN=center>{bar}</P>{entries}")
            self.site.page(f"/people/{letter}.htm", text, "people")

    def extras(self) -> None:
        office = self.dept.office
        body = f"<P>{office.street}<BR>{office.town}</P><P>Tel. {office.phone}<BR>{office.email}</P>"
        self.site.contact("/where.htm", self.frame("Where to find us", body), office)
        self.site.missing("<HTML><BODY><H1>Not Found</H1></BODY></HTML>")
