"""Pauses between requests to a host, retries of transient failures, and when a host counts as down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from zlib import crc32

from wayhound.fetched import TRANSIENT_FAILURES
from wayhound.url import host_of
from wayhound.visit import Visit


@dataclass
class Politeness:
    """The pause between two requests to one host: ours, or the one that the host asks for if it is longer."""

    delay_seconds: float = 1.0
    _ready_at: dict[str, float] = field(default_factory=dict)

    def ready_at(self, host: str) -> float:
        """Return the time from which the host may be asked again."""
        return self._ready_at.get(host, 0.0)

    def request_ended(self, host: str, now: float, wait_seconds: float = 0.0) -> None:
        """Start the pause after a request; `wait_seconds` is what the host asked for."""
        self._ready_at[host] = now + max(self.delay_seconds, wait_seconds)
        if len(self._ready_at) > 10_000:  # a process that visits thousands of sites must forget past pauses
            self._ready_at = {host: ready for host, ready in self._ready_at.items() if ready > now}


MAX_TRIES = 3  # of one URL
MAX_ROBOTS_TRIES = 5  # when robots.txt is unreachable: within about a minute, without a request for a page
MAX_CONSECUTIVE_FAILURES = 6  # then the host counts as down
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})


@dataclass
class FailureTracker:
    """Consecutive failures of one site and of each host; `last` is the reason code of the last failure."""

    last: str = ""
    _consecutive: int = 0
    _by_host: Counter[str] = field(default_factory=Counter)  # consecutive, too

    @property
    def site_is_down(self) -> bool:
        return self._consecutive >= MAX_CONSECUTIVE_FAILURES

    def is_down(self, url: str) -> bool:
        """Return True if the host of this URL has failed too often to be asked again."""
        return bool(self._by_host) and self._by_host[host_of(url)] >= MAX_CONSECUTIVE_FAILURES

    def succeeded(self, url: str) -> None:
        self._consecutive = 0
        if self._by_host:
            self._by_host.pop(host_of(url), None)

    def failed(self, visit: Visit) -> None:
        """Count a failure. A permanent one (404, say) proves that the host is up."""
        self.last = visit.outcome
        if is_transient(visit):
            self._consecutive += 1
            self._by_host[host_of(visit.url)] += 1
        else:
            self.succeeded(visit.url)


def is_transient(visit: Visit) -> bool:
    return visit.outcome in TRANSIENT_FAILURES or visit.status in TRANSIENT_STATUSES


def may_retry(visit: Visit) -> bool:
    tries = MAX_ROBOTS_TRIES if visit.outcome == "robots_unreachable" else MAX_TRIES
    return is_transient(visit) and visit.attempt < tries


def backoff_factor(url: str, attempt: int) -> float:
    """Return the backoff in units of the delay: doubled with each attempt, with jitter.

    The jitter is derived from the URL, so that a replay decides the same.
    """
    jitter = 0.5 + (crc32(f"{attempt} {url}".encode()) % 1000) / 1000
    return float(2**attempt) * jitter
