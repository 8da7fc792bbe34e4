"""The sample web: small deterministic sites for the demo, the tests and the documentation.

Generated people, departments and companies, the styles of fourteen sites, their traps, labels and true records,
and a server on loopback. Nothing here is used to forage, read or learn.
"""

from __future__ import annotations

from wayhound.samples.builder import SamplePage, Truth
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.samples.web import SampleSite, SampleWeb, sample_web, write_folder

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
