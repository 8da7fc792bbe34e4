"""Faults that may pass: which they are, how often they are tried again, and when a host is taken to be down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from zlib import crc32

from wayhound.fetched import TRANSIENT_FAILURES
from wayhound.url import host_of
from wayhound.visit import Visit


@dataclass
class Politeness:
    """Keeps the pause between two requests to one host: ours or the host's own wish, the longer one."""

    delay_seconds: float = 1.0
    _ready_at: dict[str, float] = field(default_factory=dict)

    def ready_at(self, host: str) -> float:
        return self._ready_at.get(host, 0.0)

    def asked(self, host: str, now: float, wait_seconds: float = 0.0) -> None:
        """A request to this host has just ended; `wait_seconds` is what the host asked for."""
        self._ready_at[host] = now + max(self.delay_seconds, wait_seconds)
        if len(self._ready_at) > 10_000:  # a process that walks many thousand sites forgets what is past
            self._ready_at = {host: ready for host, ready in self._ready_at.items() if ready > now}


TRIES = 3  # of one URL
ROBOTS_TRIES = 5  # of a robots.txt that cannot be had: over a minute or so, and without a request for a page
IN_A_ROW = 6  # after so many a host is taken to be down
PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})


@dataclass
class FailureTracker:
    """The faults of one site, as its visits tell of them; `last` is the reason code of the last one."""

    last: str = ""
    _in_a_row: int = 0
    _by_host: Counter[str] = field(default_factory=Counter)  # in a row, too

    @property
    def site_is_down(self) -> bool:
        return self._in_a_row >= IN_A_ROW

    def is_down(self, url: str) -> bool:
        """Whether the host of this URL has failed so often that it is left alone."""
        return bool(self._by_host) and self._by_host[host_of(url)] >= IN_A_ROW

    def answered(self, url: str) -> None:
        self._in_a_row = 0
        if self._by_host:
            self._by_host.pop(host_of(url), None)

    def failed(self, visit: Visit) -> None:
        """What may not pass is an answer, too: the host is there."""
        self.last = visit.outcome
        if is_transient(visit):
            self._in_a_row += 1
            self._by_host[host_of(visit.url)] += 1
        else:
            self.answered(visit.url)


def is_transient(visit: Visit) -> bool:
    return visit.outcome in TRANSIENT_FAILURES or visit.status in PASSING_STATUSES


def may_retry(visit: Visit) -> bool:
    tries = ROBOTS_TRIES if visit.outcome == "robots_unreachable" else TRIES
    return is_transient(visit) and visit.attempt < tries


def backoff_factor(url: str, attempt: int) -> float:
    """Doubles with each try; the jitter comes from the URL, so that a replay decides the same."""
    jitter = 0.5 + (crc32(f"{attempt} {url}".encode()) % 1000) / 1000
    return float(2**attempt) * jitter
