"""Sites and goals of the sample web that the tests forage."""

from __future__ import annotations

from wayhound.samples import SampleServer

LOOPBACK = ["--allow-private", "--delay", "0"]


def start_of(server: SampleServer, name: str) -> str:
    return f"http://{name}.localhost:{server.port}/"


def true_goals(server: SampleServer, name: str, label: str) -> set[str]:
    site = next(site for site in server.web.sites if site.name == name)
    return {f"{start_of(server, name)[:-1]}{path}" for path, given in site.labels().items() if given == label}
