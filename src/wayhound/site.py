"""A site: its start page, and the hosts that belong to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from wayhound.url import host_of, registrable_domain


@dataclass(frozen=True, slots=True)
class Site:
    """A normalised start URL, and the hosts that belong to the site.

    Without `hosts`, everything under the start's registrable domain does. A host with a port (``127.0.0.1:8000``)
    covers that port alone; one with a leading dot (``.example.org``) covers its subdomains too. `about` is what else
    the row of a table says that named the site, such as the name of the firm.
    """

    start: str
    hosts: tuple[str, ...] = ()
    about: str = field(default="", compare=False)

    @property
    def id(self) -> str:
        return self.start

    @property
    def domain(self) -> str:
        """The registrable domain, which is leased to one worker at a time, so that politeness is exact."""
        return registrable_domain(self.start)

    def covers(self, url: str) -> bool:
        if not self.hosts:
            origin = self.start[: self.start.index("/", 8) + 1]  # most links share it: no lookup needed
            return url.startswith(origin) or registrable_domain(url) == self.domain
        host = host_of(url)
        name = host if host.endswith("]") else host.rsplit(":", 1)[0]
        return any(
            inside in (host, name)
            or (inside.startswith(".") and (f".{host}".endswith(inside) or f".{name}".endswith(inside)))
            for inside in self.hosts
        )
