"""What comes back from asking for a URL: a response, or a reason why there is none.

Fetchers live in `trailmark.net`; these values are nouns so that everything may speak of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

FailureReason = Literal[
    "bad_url",  # not a URL that can be fetched
    "robots",  # robots.txt says no
    "robots_unreachable",  # robots.txt could not be had, which forbids all (RFC 9309, 2.3.1.4)
    "out_of_scope",  # outside the site
    "private_address",  # loopback, private, link-local or otherwise not public
    "dns",
    "connect",
    "tls",
    "timeout",
    "reset",  # the connection broke before the body was complete
    "too_big",
    "bad_response",  # not HTTP, or a body that does not decode
    "content_type",  # not a kind of content that was asked for
    "redirect_limit",
    "not_archived",  # replay only: the closed world does not hold it
]

PASSING_FAULTS: frozenset[FailureReason] = frozenset(
    {"dns", "connect", "timeout", "reset", "robots_unreachable"}
)
"""Failures that may be gone at the next try."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response, whatever its status. Redirects are not followed: a 3xx comes back with `location`."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    content_type: str = ""  # media type alone, lower case: text/html
    charset: str = ""  # as the header names it, lower case
    location: str = ""  # absolute target of a redirect, in normal form
    reason_phrase: str = ""
    ip: str = ""
    wait_seconds: float = 0.0  # what the host asks for before the next request: Crawl-delay, Retry-After

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def robots_tag(self) -> str:
        """What the response asks of robots: the values of its X-Robots-Tag headers, a line each."""
        return "\n".join([value for name, value in self.headers if name.lower() == "x-robots-tag"])

    @property
    def outcome(self) -> str:
        """The reason code of this response: `ok`, `redirect` or `http_404`."""
        if self.ok:
            return "ok"
        return "redirect" if self.location else f"http_{self.status}"


@dataclass(frozen=True, slots=True)
class Failed:
    """No response, and why. `sent` tells whether a request for the page went out at all."""

    url: str
    reason: FailureReason
    detail: str = ""
    sent: bool = True
    wait_seconds: float = 0.0

    @property
    def outcome(self) -> str:
        return self.reason


class Fetcher(Protocol):
    """The seam between deciding and the network. The only place where tests may put a fake."""

    async def fetch(self, url: str) -> Fetched | Failed: ...
