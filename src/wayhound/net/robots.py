"""Fetches the robots.txt of every host before its pages, and caches it (RFC 9309)."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

from protego import Protego

from wayhound.fetched import MAX_WAIT_SECONDS, TRANSIENT_FAILURES, Failed, FailureReason, Fetched

MAX_ROBOTS_BYTES = 500 * 1024
"""Bytes read of a robots.txt: the minimum that RFC 9309 (2.5) allows."""

MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
KEEP_SECONDS = 24 * 3600.0  # RFC 9309, 2.4
FIRST_RETRY_SECONDS = 5.0  # after a failure to fetch robots.txt; doubled each time
LAST_RETRY_SECONDS = 300.0
MAX_HOSTS = 10_000
MAX_SITEMAPS = 10
MAX_WILDCARDS = 1_000
"""Rules with a wildcard that are obeyed: each is compared with every URL, in up to 30 µs for a long one."""

MAX_CACHED_CHARS = 8_000_000
"""Limit on cached rules over all hosts: a hostile file of the full size takes some forty times its size in memory."""

_AGENT_LINE = re.compile(r"\s*user[ -]?agent\s*[:\s]\s*([*]|[a-z_-]*)", re.IGNORECASE)
# blanks and no line breaks: those would be looked through again from every empty line of a file
_SITEMAP_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S{1,2000})", re.IGNORECASE | re.MULTILINE)
_RULE_LINE = re.compile(r"\s*(?:allow|dis+al+[oa]w|diasllow|crawl[ -]delay)\s*[:\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """The rules of a host until `expires`. With neither rules nor a refusal, everything is allowed."""

    expires: float
    rules: Protego | None = None
    product: str = ""
    delay_seconds: float = 0.0
    refusal: FailureReason | None = None
    detail: str = ""
    size: int = 0
    failures: int = 0
    sitemaps: tuple[str, ...] = ()

    def forbids(self, url: str) -> FailureReason | None:
        if self.refusal is not None:
            return self.refusal
        return "robots" if self.rules is not None and not self.rules.can_fetch(url, self.product) else None

    def wait_seconds(self, now: float) -> float:
        """Return how long a retry is pointless; 0 if the refusal is permanent, or nothing is refused."""
        return max(self.expires - now, 0.0) if self.refusal in TRANSIENT_FAILURES else 0.0


class Robots:
    """Cached policies by host. `get` fetches one URL and follows no redirect."""

    def __init__(
        self,
        get: Callable[[str], Awaitable[Fetched | Failed]],
        product: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._get = get
        self._product = product.lower()
        self._clock = clock
        self._policies: dict[str, RobotsPolicy] = {}
        self._pending: dict[str, asyncio.Task[RobotsPolicy]] = {}
        self._cached_chars = 0

    def cached(self, origin: str) -> RobotsPolicy | None:
        """Return the policy of ``https://host:port``; None if it must be fetched first."""
        policy = self._policies.get(origin)
        return policy if policy is not None and policy.expires > self._clock() else None

    async def fetch(self, origin: str) -> RobotsPolicy:
        """Fetch a policy. Concurrent callers share one request, even if one of them is cancelled."""
        task = self._pending.get(origin)
        if task is None:
            task = self._pending[origin] = asyncio.create_task(self._fetch(origin))
            task.add_done_callback(lambda task: self._ended(origin, task))
        return await asyncio.shield(task)

    def _ended(self, origin: str, task: asyncio.Task[RobotsPolicy]) -> None:
        self._pending.pop(origin, None)
        if not task.cancelled():
            task.exception()  # seen, even if all who waited were cancelled

    def refusal(self, url: str, policy: RobotsPolicy) -> Failed | None:
        """Return why a page may not be fetched under a policy, and when to retry; None if it may."""
        reason = policy.forbids(url)
        if reason is None:
            return None
        wait = policy.wait_seconds(self._clock())
        return Failed(url, reason, policy.detail, sent=False, wait_seconds=wait)

    async def close(self) -> None:
        pending = list(self._pending.values())
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _fetch(self, origin: str) -> RobotsPolicy:
        answer = await self._follow(f"{origin}/robots.txt")
        policy = self._policy(answer, self._policies.get(origin))
        self._cache(origin, policy)
        return policy

    async def _follow(self, url: str) -> Fetched | Failed:
        answer = await self._get(url)
        for _ in range(MAX_REDIRECTS):
            if isinstance(answer, Failed) or not answer.location:
                break
            answer = await self._get(answer.location)
            if isinstance(answer, Failed):
                # The host itself was reached, so the failure says nothing about its pages.
                answer = replace(answer, sent=True)
        return answer

    def _policy(self, answer: Fetched | Failed, before: RobotsPolicy | None) -> RobotsPolicy:
        now = self._clock()
        if isinstance(answer, Fetched) and answer.ok:
            return self._parsed(answer.body, now)
        if isinstance(answer, Fetched) and 300 <= answer.status < 500 and answer.status != 429:
            return RobotsPolicy(now + KEEP_SECONDS)  # RFC 9309, 2.3.1.3: there is no robots.txt
        if before is not None and before.refusal is None:
            # 2.4: keep the old rules while it is unreachable
            return replace(before, expires=now + LAST_RETRY_SECONDS)
        return _unreachable(answer, now, before.failures if before else 0)

    def _parsed(self, body: bytes, now: float) -> RobotsPolicy:
        text = _whole_lines(body)
        lines = list(rules_for(self._product, text))
        if sum("*" in line.partition("#")[0] for line in lines if _RULE_LINE.match(line)) > MAX_WILDCARDS:
            detail = f"robots.txt has more than {MAX_WILDCARDS:,} rules with wildcards"
            return RobotsPolicy(now + KEEP_SECONDS, refusal="robots", detail=detail)
        own = "\n".join(lines)
        rules = Protego.parse(own) if own else None
        delay = (rules.crawl_delay(self._product) or 0.0) if rules else 0.0
        return RobotsPolicy(
            now + KEEP_SECONDS,
            rules,
            self._product,
            delay_seconds=min(delay, MAX_WAIT_SECONDS),
            size=len(own),
            sitemaps=tuple(dict.fromkeys(_SITEMAP_LINE.findall(text)))[:MAX_SITEMAPS],
        )

    def _cache(self, origin: str, policy: RobotsPolicy) -> None:
        """Add a policy. The oldest ones are dropped if the cache is full; they are fetched again if needed."""
        self._drop(origin)
        self._policies[origin] = policy
        self._cached_chars += policy.size
        while len(self._policies) > MAX_HOSTS or (
            self._cached_chars > MAX_CACHED_CHARS and len(self._policies) > 1
        ):
            self._drop(next(iter(self._policies)))

    def _drop(self, origin: str) -> None:
        policy = self._policies.pop(origin, None)
        self._cached_chars -= policy.size if policy else 0


def rules_for(product: str, text: str) -> Iterator[str]:
    """Yield the lines of the groups for `product` or for everybody, with only these two names.

    Names are compared by RFC 9309 (2.2.1). A parser assigns each rule of a group to each agent of that group: with
    other robots' names left in, half a megabyte of names and rules makes some hundred million.
    """
    in_names = ours = False
    for line in text.splitlines():
        if agent := _AGENT_LINE.match(line):
            ours = ours and in_names
            in_names = True
            name = agent[1].lower()
            if name in {"*", product}:
                ours = True
                yield f"User-agent: {name}"
        elif _RULE_LINE.match(line):
            in_names = False
            if ours:
                yield line


def _whole_lines(body: bytes) -> str:
    """Decode a body without a last line that the size limit cut: half a path forbids more than was meant."""
    if len(body) >= MAX_ROBOTS_BYTES:
        body = body[:MAX_ROBOTS_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", "replace")


def _unreachable(answer: Fetched | Failed, now: float, failures: int) -> RobotsPolicy:
    """Return the policy without an answer: everything is forbidden (RFC 9309, 2.3.1.4).

    If not even a request could be sent, the reason is that failure of the host. Either may pass, so the host is retried
    soon, with exponential backoff.
    """
    keep = max(min(FIRST_RETRY_SECONDS * 2**failures, LAST_RETRY_SECONDS), answer.wait_seconds)
    if isinstance(answer, Failed) and not answer.sent:
        reason, detail = answer.reason, answer.detail
    else:
        reason = "robots_unreachable"
        detail = f"robots.txt: {_failure(answer)}"
    return RobotsPolicy(now + keep, refusal=reason, detail=detail, failures=failures + 1)


def _failure(answer: Fetched | Failed) -> str:
    return f"{answer.reason}: {answer.detail}" if isinstance(answer, Failed) else answer.outcome
