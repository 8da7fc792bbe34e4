"""The sample web: small deterministic sites for the demo, the tests and the documentation."""

from __future__ import annotations

from trailmark.samples.builder import SamplePage
from trailmark.samples.folder import write_folder
from trailmark.samples.server import SampleServer, serve_samples
from trailmark.samples.truth import Truth
from trailmark.samples.web import SampleSite, SampleWeb, sample_web

__all__ = [
    "SamplePage",
    "SampleServer",
    "SampleSite",
    "SampleWeb",
    "Truth",
    "sample_web",
    "serve_samples",
    "write_folder",
]
