"""Asks every host's robots.txt before its pages, and keeps the answer (RFC 9309)."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

from protego import Protego

from wayhound.fetched import MAX_WAIT_SECONDS, TRANSIENT_FAILURES, Failed, FailureReason, Fetched

MAX_ROBOTS_BYTES = 500 * 1024
"""What is read of a robots.txt: the least that RFC 9309 (2.5) allows."""

MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
KEEP_SECONDS = 24 * 3600.0  # RFC 9309, 2.4
FIRST_RETRY_SECONDS = 5.0  # after a robots.txt that could not be had; twice as long each time
LAST_RETRY_SECONDS = 300.0
MAX_HOSTS = 10_000
MAX_KEPT_CHARS = 8_000_000
"""Of rules, over all hosts: a hostile file of the full size takes some forty times that in memory."""

_AGENT_LINE = re.compile(r"\s*user[ -]?agent\s*[:\s]\s*([*]|[a-z_-]*)", re.IGNORECASE)
_RULE_LINE = re.compile(r"\s*(?:allow|dis+al+[oa]w|diasllow|crawl[ -]delay)\s*[:\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a host lets us do until `expires`. With neither rules nor a refusal, everything is allowed."""

    expires: float
    rules: Protego | None = None
    product: str = ""
    delay_seconds: float = 0.0
    refusal: FailureReason | None = None
    detail: str = ""
    size: int = 0
    failures: int = 0

    def forbids(self, url: str) -> FailureReason | None:
        if self.refusal is not None:
            return self.refusal
        return "robots" if self.rules is not None and not self.rules.can_fetch(url, self.product) else None

    def wait_seconds(self, now: float) -> float:
        """How long there is no use in coming back; 0 when a refusal stands, or nothing is refused."""
        return max(self.expires - now, 0.0) if self.refusal in TRANSIENT_FAILURES else 0.0


class Robots:
    """The policies of all hosts met so far. `get` fetches one URL and follows no redirect."""

    def __init__(
        self,
        get: Callable[[str], Awaitable[Fetched | Failed]],
        product: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._get = get
        self._product = product.lower()
        self._clock = clock
        self._policies: dict[str, Policy] = {}
        self._asking: dict[str, asyncio.Task[Policy]] = {}
        self._kept_chars = 0

    def known(self, origin: str) -> Policy | None:
        """The policy of ``https://host:port``, unless that must be asked for first."""
        policy = self._policies.get(origin)
        return policy if policy is not None and policy.expires > self._clock() else None

    async def ask(self, origin: str) -> Policy:
        """Asks the host. Callers at the same time share one request, also when one of them gives up."""
        task = self._asking.get(origin)
        if task is None:
            task = self._asking[origin] = asyncio.create_task(self._ask(origin))
            task.add_done_callback(lambda _: self._asking.pop(origin, None))
        return await asyncio.shield(task)

    def refusal(self, url: str, policy: Policy) -> Failed | None:
        """Why a page of a host with that policy may not be asked for, and when to come back."""
        reason = policy.forbids(url)
        if reason is None:
            return None
        wait = policy.wait_seconds(self._clock())
        return Failed(url, reason, policy.detail, sent=False, wait_seconds=wait)

    async def close(self) -> None:
        asking = list(self._asking.values())
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, origin: str) -> Policy:
        answer = await self._follow(f"{origin}/robots.txt")
        policy = self._policy(answer, self._policies.get(origin))
        self._keep(origin, policy)
        return policy

    async def _follow(self, url: str) -> Fetched | Failed:
        answer = await self._get(url)
        for _ in range(MAX_REDIRECTS):
            if isinstance(answer, Failed) or not answer.location:
                break
            answer = await self._get(answer.location)
            if isinstance(answer, Failed):
                # The host itself was reached, so that the fault is not that of its pages.
                answer = replace(answer, sent=True)
        return answer

    def _policy(self, answer: Fetched | Failed, before: Policy | None) -> Policy:
        now = self._clock()
        if isinstance(answer, Fetched) and answer.ok:
            return self._parsed(answer.body, now)
        if isinstance(answer, Fetched) and 300 <= answer.status < 500 and answer.status != 429:
            return Policy(now + KEEP_SECONDS)  # RFC 9309, 2.3.1.3: there is none
        if before is not None and before.refusal is None:
            return replace(before, expires=now + LAST_RETRY_SECONDS)  # 2.4: old rules while it is away
        return _unreachable(answer, now, before.failures if before else 0)

    def _parsed(self, body: bytes, now: float) -> Policy:
        own = "\n".join(rules_for(self._product, _whole_lines(body)))
        rules = Protego.parse(own) if own else None
        delay = (rules.crawl_delay(self._product) or 0.0) if rules else 0.0
        return Policy(
            now + KEEP_SECONDS,
            rules,
            self._product,
            delay_seconds=min(delay, MAX_WAIT_SECONDS),
            size=len(own),
        )

    def _keep(self, origin: str, policy: Policy) -> None:
        """Hosts first met go first when there is no more room; those still needed are asked again."""
        self._forget(origin)
        self._policies[origin] = policy
        self._kept_chars += policy.size
        while len(self._policies) > MAX_HOSTS or (
            self._kept_chars > MAX_KEPT_CHARS and len(self._policies) > 1
        ):
            self._forget(next(iter(self._policies)))

    def _forget(self, origin: str) -> None:
        policy = self._policies.pop(origin, None)
        self._kept_chars -= policy.size if policy else 0


def rules_for(product: str, text: str) -> Iterator[str]:
    """The groups of a robots.txt that are for `product` or for everybody, with those two names alone.

    Names are compared as RFC 9309 (2.2.1) says. A parser gives each rule of a group to each agent of that
    group: with other robots' names left in, half a megabyte of names and rules makes some hundred million.
    """
    in_names = ours = False
    for line in text.splitlines():
        if named := _AGENT_LINE.match(line):
            ours = ours and in_names
            in_names = True
            name = named[1].lower()
            if name in {"*", product}:
                ours = True
                yield f"User-agent: {name}"
        elif _RULE_LINE.match(line):
            in_names = False
            if ours:
                yield line


def _whole_lines(body: bytes) -> str:
    """The text, without a last line that the size limit cut: half a path forbids more than was meant."""
    if len(body) >= MAX_ROBOTS_BYTES:
        body = body[:MAX_ROBOTS_BYTES].rpartition(b"\n")[0]
    return body.decode("utf-8-sig", "replace")


def _unreachable(answer: Fetched | Failed, now: float, failures: int) -> Policy:
    """RFC 9309, 2.3.1.4: without an answer everything is forbidden.

    When not even a request could be sent, that is the host's fault and told as such. Either may pass, so that
    the host is tried again soon, and less soon each time.
    """
    keep = max(min(FIRST_RETRY_SECONDS * 2**failures, LAST_RETRY_SECONDS), answer.wait_seconds)
    if isinstance(answer, Failed) and not answer.sent:
        reason, detail = answer.reason, answer.detail
    else:
        reason = "robots_unreachable"
        detail = f"robots.txt: {_fault_of(answer)}"
    return Policy(now + keep, refusal=reason, detail=detail, failures=failures + 1)


def _fault_of(answer: Fetched | Failed) -> str:
    return f"{answer.reason}: {answer.detail}" if isinstance(answer, Failed) else answer.outcome
