"""History: a wiki with categories and edit links everywhere, without publications."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

from wayhound.samples.builder import Label
from wayhound.samples.department import News, Project, SampleCourse
from wayhound.samples.markup import fill, link, listing, look, paragraphs, rows
from wayhound.samples.people import SamplePerson
from wayhound.samples.sites.base import DepartmentStyle

SIDEBAR = (
    ("/wiki/Main_Page", "Main page"),
    ("/wiki/Category:People", "Who we are"),
    ("/wiki/Category:Courses", "Courses"),
    ("/wiki/Category:Projects", "Projects"),
    ("/wiki/Category:Announcements", "Announcements"),
    ("/wiki/Special:Random", "Random page"),
)
EDIT = '<span class="editsection">[edit]</span>'


class History(DepartmentStyle):
    def frame(self, title: str, body: str) -> str:
        return self.article(title, body, ())

    def article(self, title: str, body: str, categories: Iterable[str]) -> str:
        name = quote(title.replace(" ", "_"), safe="():,'")
        side = listing(link(href, text) for href, text in SIDEBAR)
        marks = " | ".join(link(f"/wiki/Category:{c.replace(' ', '_')}", c) for c in categories)
        foot = f'<div class="catlinks">Categories: {marks}</div>' if marks else ""
        parts = {"side": side, "name": name, "categories": foot, "css": look("history.css")}
        return fill("history.html", title=title, body=body, **parts)

    def wiki(self, title: str) -> str:
        return "/wiki/" + quote(title.replace(" ", "_"), safe="():,'")

    def person_path(self, person: SamplePerson) -> str:
        return self.wiki(person.name)

    def course_path(self, course: SampleCourse) -> str:
        return self.wiki(course.title)

    def project_path(self, project: Project) -> str:
        return self.wiki(project.title)

    def news_path(self, news: News) -> str:
        return self.wiki(news.title)

    def person_page(self, person: SamplePerson) -> str:
        rank = {"faculty": "Faculty", "student": "Students", "staff": "Staff"}[person.rank]
        return self.article(
            person.name, self.person(person), [c for c in ("People", rank, person.group) if c]
        )

    def person(self, person: SamplePerson) -> str:
        facts = [
            ["Position", person.position],
            ["Room", person.room],
            ["Phone", person.phone],
            ["E-mail", person.email],
        ]
        courses = self.dept.courses_of(person)
        projects = [p for p in self.dept.projects if person in p.members]
        parts = f"<h2>Courses {EDIT}</h2>{self.course_list(courses)}" if courses else ""
        parts += f"<h2>Projects {EDIT}</h2>{self.project_list(projects)}" if projects else ""
        return f"""<table class="infobox"><caption>{person.name}</caption>{rows(facts)}</table>
<p>{person.bio}</p>{parts}"""

    def course(self, course: SampleCourse) -> str:
        return f"""<p><b>{course.title}</b> ({course.code}) is a course given by
{self.person_link(course.teacher)}. {course.text}</p><h2>Contents</h2>{listing(course.lectures, "ol")}"""

    def project(self, project: Project) -> str:
        gone = self.site.break_link(self.wiki(f"{project.acronym} minutes"))
        return f"""<p><b>{project.title}</b> is a project at the {self.dept.short}. {project.text}</p>
<p>Supported by the {project.funder}.</p>
<h2>Members</h2>{listing(self.person_link(p) for p in project.members)}
<p>See also: {link(gone, f"{project.acronym} minutes", 'class="new"')}</p>"""

    def news(self, news: News) -> str:
        return f"<p><i>{news.dated}</i></p>{paragraphs(news.paragraphs)}"

    def lists(self) -> None:
        dept = self.dept
        main = f"<p>{dept.welcome}</p><h2>Start here</h2>{listing(link(*entry) for entry in SIDEBAR[1:5])}"
        main += f"<p>{dept.about}</p><h2>News</h2>{self.news_list(dept.news[:4])}"
        main += f"<p>{link(self.wiki('How to find us'), 'How to find us')}</p>"
        self.site.page("/", self.article("Main Page", main, ()), "home")
        self.site.page("/wiki/Main_Page", self.article("Main Page", main, ()), "home")
        self.category(
            "People", map(self.person_link, dept.people), "people", ("Faculty", "Students", "Staff")
        )
        for rank, title in (("faculty", "Faculty"), ("student", "Students"), ("staff", "Staff")):
            members = (p for p in dept.people if p.rank == rank)
            self.category(title, map(self.person_link, members), "people")
        for group in dept.groups:
            self.category(group.area, map(self.person_link, group.members), "people")
        self.category("Courses", (link(self.course_path(c), c.title) for c in dept.courses))
        self.category("Projects", (link(self.project_path(p), p.title) for p in dept.projects))
        self.category("Announcements", (link(self.news_path(n), n.title) for n in dept.news))

    def category(
        self, title: str, entries: Iterable[str], label: Label = "other", children: Iterable[str] = ()
    ) -> None:
        below = listing(link(f"/wiki/Category:{child}", child) for child in children)
        body = f"<h2>Subcategories</h2>{below}" if children else ""
        body += f"<h2>Pages in category “{title}”</h2>{listing(sorted(entries))}"
        path = f"/wiki/Category:{title.replace(' ', '_')}"
        self.site.page(path, self.article(f"Category:{title}", body, ()), label)

    def extras(self) -> None:
        office, random_person = self.dept.office, self.dept.people[5]
        self.site.redirect("/wiki/Special:Random", self.person_path(random_person), 302)
        self.site.redirect("/wiki/", "/wiki/Main_Page")
        where = f"{office.street}, {office.town}. Phone {office.phone}, {office.email}."
        body = paragraphs([self.dept.about, where])
        self.site.contact(self.wiki("How to find us"), self.article("How to find us", body, ()), office)
        self.site.trap(r"/index\.php\?title=([^&]*)&action=(edit|history)(?:&oldid=(\d+))?", self.special)
        self.site.missing(self.frame("No such page", "<p>There is no text in this page yet.</p>"))

    def special(self, match: re.Match[str]) -> str:
        """Return an edit form or page history; each old version links to an older one."""
        name, action, number = match[1], match[2], int(match[3] or 900)
        older = f"/index.php?title={name}&amp;action=history&amp;oldid={number - 1}"
        return self.frame(f"{action.capitalize()}: {name}", f"<p>{link(older, 'older version')}</p>")
