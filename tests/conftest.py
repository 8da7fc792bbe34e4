"""Settings of all tests: none is timed, since a busy machine may pause anywhere."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")
