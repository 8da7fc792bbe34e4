"""Base classes of site styles: the pages that every department and every company has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from wayhound.samples.builder import SiteBuilder
from wayhound.samples.company import Company, Product
from wayhound.samples.department import Department, News, Project, Publication, SampleCourse
from wayhound.samples.markup import link, listing
from wayhound.samples.people import SamplePerson


class SampleStyle(ABC):
    """The style of one site: a frame around each page, and the paths of its pages."""

    site: SiteBuilder

    @abstractmethod
    def frame(self, title: str, body: str) -> str: ...

    @abstractmethod
    def news_path(self, news: News) -> str: ...

    @abstractmethod
    def person_path(self, person: SamplePerson) -> str: ...

    def person_link(self, person: SamplePerson) -> str:
        return link(self.person_path(person), person.name)

    def authors(self, people: Iterable[SamplePerson]) -> str:
        return ", ".join(self.person_link(person) for person in people)

    def news_list(self, items: Iterable[News]) -> str:
        return listing(f"{n.dated}: {link(self.news_path(n), n.title)}" for n in items)


class DepartmentStyle(SampleStyle):
    """Writes one page for each person, publication, course, project and news item of a department."""

    def __init__(self, site: SiteBuilder, dept: Department) -> None:
        self.site = site
        self.dept = dept

    def build(self) -> None:
        self.lists()
        for person in self.dept.people:
            self.site.person(self.person_path(person), self.person_page(person), person)
        for paper in self.dept.publications:
            self.add_publication(paper)
        for course in self.dept.courses:
            self.site.page(self.course_path(course), self.frame(course.title, self.course(course)), "course")
        for project in self.dept.projects:
            self.site.page(
                self.project_path(project), self.frame(project.title, self.project(project)), "project"
            )
        for news in self.dept.news:
            self.site.page(self.news_path(news), self.frame(news.title, self.news(news)), "news")
        self.extras()

    def person_page(self, person: SamplePerson) -> str:
        return self.frame(person.name, self.person(person))

    def add_publication(self, paper: Publication) -> None:
        pdf, text = self.pdf_path(paper), self.frame(paper.title, self.publication(paper))
        self.site.publication(self.paper_path(paper), text, paper, pdf)
        if paper.has_pdf:
            self.site.paper(pdf, paper, self.dept.title, self.dept.language)

    @abstractmethod
    def lists(self) -> None:
        """Add the home page and the lists that lead to everything else."""

    @abstractmethod
    def extras(self) -> None:
        """Add contact and about pages, oddities and traps."""

    def paper_path(self, paper: Publication) -> str:
        raise NotImplementedError(f"{self.site.host} has no publications")

    def pdf_path(self, paper: Publication) -> str:
        return self.paper_path(paper).removesuffix("/").removesuffix(".html") + ".pdf"

    def publication(self, paper: Publication) -> str:
        raise NotImplementedError(f"{self.site.host} has no publications")

    def news_path(self, news: News) -> str:
        raise NotImplementedError(f"{self.site.host} has no news")

    def news(self, news: News) -> str:
        raise NotImplementedError(f"{self.site.host} has no news")

    @abstractmethod
    def course_path(self, course: SampleCourse) -> str: ...

    @abstractmethod
    def project_path(self, project: Project) -> str: ...

    @abstractmethod
    def person(self, person: SamplePerson) -> str: ...

    @abstractmethod
    def course(self, course: SampleCourse) -> str: ...

    @abstractmethod
    def project(self, project: Project) -> str: ...

    def paper_list(self, papers: Iterable[Publication]) -> str:
        return listing(
            f"{self.authors(p.authors)}: {link(self.paper_path(p), p.title)}. <i>{p.venue}</i>, {p.year}"
            for p in papers
        )

    def course_list(self, courses: Iterable[SampleCourse]) -> str:
        return listing(link(self.course_path(c), f"{c.code} {c.title}") for c in courses)

    def project_list(self, projects: Iterable[Project]) -> str:
        return listing(link(self.project_path(p), p.title) for p in projects)

    def references(self, paper: Publication) -> str:
        """Return the reference list, with links to the papers that are on this site."""
        own = {p.reference(): self.paper_path(p) for p in self.dept.publications if p.number in paper.cites}
        return listing((link(own[r], r) if r in own else r for r in paper.references), "ol")


class CompanyStyle(SampleStyle):
    """Writes one page for each product and news item of a company."""

    def __init__(self, site: SiteBuilder, company: Company) -> None:
        self.site = site
        self.company = company

    def build(self) -> None:
        self.lists()
        for product in self.company.products:
            text = self.frame(product.name, self.product(product))
            self.site.page(self.product_path(product), text, "product")
        for news in self.company.news:
            self.site.page(self.news_path(news), self.frame(news.title, self.news(news)), "news")
        self.extras()

    @abstractmethod
    def lists(self) -> None:
        """Add the home page and the lists that lead to everything else."""

    @abstractmethod
    def extras(self) -> None:
        """Add team, contact and about pages, oddities and traps."""

    @abstractmethod
    def product_path(self, product: Product) -> str: ...

    @abstractmethod
    def product(self, product: Product) -> str: ...

    @abstractmethod
    def news(self, news: News) -> str: ...

    def product_list(self, products: Iterable[Product]) -> str:
        return listing(link(self.product_path(p), p.name) for p in products)

    def people_pages(self) -> None:
        for person in self.company.team:
            self.site.person(self.person_path(person), self.frame(person.name, self.member(person)), person)

    def member(self, person: SamplePerson) -> str:
        return f"<h1>{person.name}</h1><p>{person.position}</p><p>{person.bio}</p>"
