"""When a host may be asked again: one request at a time, and a pause after each."""

from __future__ import annotations

from dataclasses import dataclass, field


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
