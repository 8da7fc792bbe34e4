"""The sample web: small deterministic sites for the demo, the tests and the documentation."""

from __future__ import annotations

from wayhound.samples.builder import SamplePage, Truth
from wayhound.samples.folder import write_folder
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.samples.web import SampleSite, SampleWeb, sample_web

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
