from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from tests.servers import Answer, Page, closed_port, misbehaving, serve
from wayhound.fetched import Failed, Fetched
from wayhound.net import robots as robots_module
from wayhound.net.http import Agent, HttpFetcher, Timeouts
from wayhound.net.robots import MAX_ROBOTS_BYTES, Robots, RobotsPolicy, rules_for

PATIENT = Timeouts(connect_seconds=30, read_seconds=30, total_seconds=60)
ORIGIN = "https://physics.example"


async def fetch_all(base: str, *paths: str, agent: str = "Wayhound") -> list[str]:
    fetcher = HttpFetcher(Agent(agent), allow_private=True, timeouts=PATIENT)
    async with fetcher:
        return [(await fetcher.fetch(base + path)).outcome for path in paths]


def outcomes(robots: Page | None, *paths: str, agent: str = "Wayhound") -> list[str]:
    """Return the outcomes of fetching `paths` from a site with that robots.txt."""
    pages: dict[str, Page] = dict.fromkeys(paths, "a page")
    if robots is not None:
        pages["/robots.txt"] = robots
    with serve(pages) as site:
        return asyncio.run(fetch_all(str(site), *paths, agent=agent))


def test_what_robots_txt_forbids_is_not_asked_for() -> None:
    with serve({"/robots.txt": "User-agent: *\nDisallow: /private", "/": "x", "/private/a": "x"}) as site:
        got = asyncio.run(fetch_all(str(site), "/", "/private/a", "/private", "/"))
        assert got == ["ok", "robots", "robots", "ok"]
        assert site.requests == {"/robots.txt": 1, "/": 2}


def test_a_refusal_sends_nothing_and_says_so() -> None:
    async def run(url: str) -> Fetched | Failed:
        async with HttpFetcher(allow_private=True, timeouts=PATIENT) as fetcher:
            return await fetcher.fetch(url)

    with serve({"/robots.txt": "User-agent: *\nDisallow: /"}) as site:
        got = asyncio.run(run(f"{site}/"))
    assert isinstance(got, Failed)
    assert (got.reason, got.sent, got.wait_seconds) == ("robots", False, 0.0)


def test_robots_txt_can_be_left_aside() -> None:
    async def run(url: str) -> str:
        async with HttpFetcher(allow_private=True, respect_robots=False, timeouts=PATIENT) as fetcher:
            return (await fetcher.fetch(url)).outcome

    with serve({"/robots.txt": "User-agent: *\nDisallow: /", "/": "x"}) as site:
        assert asyncio.run(run(f"{site}/")) == "ok"
        assert site.requests == {"/": 1}


def test_the_longest_rule_wins_and_wildcards_count() -> None:
    robots = "User-agent: *\nDisallow: /a\nAllow: /a/open\nDisallow: /*.cgi$\n"
    assert outcomes(robots, "/a/shut", "/a/open/x", "/b.cgi", "/b.cgi?q=1") == [
        "robots",
        "ok",
        "robots",
        "ok",
    ]


def test_our_own_group_counts_instead_of_everybodys() -> None:
    robots = "User-agent: *\nDisallow: /\n\nUser-agent: wayHOUND\nDisallow: /shut\n"
    assert outcomes(robots, "/", "/shut") == ["ok", "robots"]
    assert outcomes(robots, "/", "/shut", agent="Otherbot") == ["robots", "robots"]


@pytest.mark.parametrize("name", ["Wayhound/0.1", "Wayhound 0.1", "WAYHOUND*", "Wayhound  # us"])
def test_our_name_is_known_with_a_version_behind_it(name: str) -> None:
    assert outcomes(f"User-agent: {name}\nDisallow: /\n", "/") == ["robots"]


@pytest.mark.parametrize("name", ["Trail", "Wayhounder", "NotWayhound", "Mozilla"])
def test_another_robots_name_is_not_ours(name: str) -> None:
    assert outcomes(f"User-agent: {name}\nDisallow: /\n", "/") == ["ok"]


@pytest.mark.parametrize("status", [300, 400, 401, 403, 404, 410, 451])
def test_a_robots_txt_that_is_not_there_allows_everything(status: int) -> None:
    assert outcomes(Answer("User-agent: *\nDisallow: /", status), "/") == ["ok"]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_robots_txt_that_cannot_be_had_forbids_everything(status: int) -> None:
    assert outcomes(Answer("", status), "/") == ["robots_unreachable"]


@pytest.mark.parametrize(
    "robots", [b"", b"\xff\xfe\x00binary", b"<html><title>Home</title>", b"\xef\xbb\xbf"]
)
def test_a_robots_txt_without_rules_allows_everything(robots: bytes) -> None:
    assert outcomes(robots, "/") == ["ok"]


def test_a_byte_order_mark_hides_no_group() -> None:
    assert outcomes("\ufeffUser-agent: *\nDisallow: /", "/") == ["robots"]


def test_redirects_are_followed_for_robots_txt_and_the_rules_stay_with_the_first_host() -> None:
    with serve({"/elsewhere": "User-agent: *\nDisallow: /shut", "/": "x", "/shut": "x"}) as other:
        hops: dict[str, Page] = {"/": "x", "/shut": "x"}
        for number in range(1, 5):
            hops[f"/{number}"] = Answer(status=302, headers=(("Location", f"/{number + 1}"),))
        hops["/robots.txt"] = Answer(status=301, headers=(("Location", "/1"),))
        hops["/5"] = "User-agent: *\nDisallow: /shut"
        with serve(hops) as site:
            assert asyncio.run(fetch_all(str(site), "/", "/shut")) == ["ok", "robots"]
        hops["/robots.txt"] = Answer(status=301, headers=(("Location", f"{other}/elsewhere"),))
        with serve(hops) as site:
            assert asyncio.run(fetch_all(str(site), "/", "/shut")) == ["ok", "robots"]
        assert asyncio.run(fetch_all(str(other), "/shut")) == ["ok"]


def test_a_robots_txt_behind_too_many_redirects_is_not_there() -> None:
    with serve(
        {"/robots.txt": Answer(status=302, headers=(("Location", "/robots.txt?"),)), "/": "x"}
    ) as site:
        assert asyncio.run(fetch_all(str(site), "/")) == ["ok"]
        assert site.requests["/robots.txt"] == 6


def test_a_robots_txt_that_leads_into_a_service_is_unreachable_and_the_service_unasked() -> None:
    to_mail = Answer(status=302, headers=(("Location", "http://127.0.0.1:25/robots.txt"),))
    assert outcomes(to_mail, "/") == ["robots_unreachable"]


def test_of_a_huge_robots_txt_the_first_half_megabyte_counts() -> None:
    filler = "# nothing to see\n" * (MAX_ROBOTS_BYTES // 17)
    robots = f"User-agent: *\nDisallow: /early\n{filler}Disallow: /late\n"
    assert outcomes(robots, "/early", "/late") == ["robots", "ok"]


def test_a_rule_that_the_limit_cuts_in_two_is_no_rule() -> None:
    start = "User-agent: *\nDisallow: /early\n"
    rule = "Disallow: /private/only"
    filler = "#" * (MAX_ROBOTS_BYTES - len(start) - len("\nDisallow: /")) + "\n"
    robots = f"{start}{filler}{rule}\n"
    assert robots[:MAX_ROBOTS_BYTES].endswith("\nDisallow: /")
    assert outcomes(robots, "/early", "/other") == ["robots", "ok"]


@pytest.mark.parametrize("respect", [True, False])
def test_a_host_that_cannot_be_reached_is_told_as_that(respect: bool) -> None:
    async def run() -> Fetched | Failed:
        url = f"http://127.0.0.1:{closed_port()}/"
        async with HttpFetcher(allow_private=True, respect_robots=respect, timeouts=PATIENT) as fetcher:
            return await fetcher.fetch(url)

    assert asyncio.run(run()).outcome == "connect"


def test_callers_at_the_same_time_share_one_request() -> None:
    async def run(base: str) -> list[Fetched | Failed]:
        async with HttpFetcher(allow_private=True, timeouts=PATIENT) as fetcher:
            return await asyncio.gather(*(fetcher.fetch(f"{base}/{number}") for number in range(10)))

    pages = {"/robots.txt": Answer("User-agent: *\nDisallow: /7", delay_seconds=0.1)}
    with serve(pages) as site:
        got = asyncio.run(run(str(site)))
        assert site.requests["/robots.txt"] == 1
    assert [answer.outcome for answer in got].count("robots") == 1


def test_hosts_and_ports_have_rules_of_their_own() -> None:
    pages = {"//a.localhost/robots.txt": "User-agent: *\nDisallow: /", "/": "x"}
    with serve(pages) as site:
        for host, outcome in (("a.localhost", "robots"), ("b.localhost", "ok")):
            assert asyncio.run(fetch_all(site.at(host), "/")) == [outcome]


def test_a_robots_txt_of_garbage_is_unreachable() -> None:
    with misbehaving() as rude:
        garbage = Answer(status=302, headers=(("Location", f"{rude}/garbage"),))
        with serve({"/robots.txt": garbage, "/": "x"}) as site:
            assert asyncio.run(fetch_all(str(site), "/")) == ["robots_unreachable"]


class Host:
    """A host's robots.txt as `Robots` asks for it, with a clock that is set by hand."""

    def __init__(self) -> None:
        self.answer: Fetched | Failed = Fetched(f"{ORIGIN}/robots.txt", 404)
        self.now = 0.0
        self.asked = 0
        self.robots = Robots(self.get, "Wayhound", clock=lambda: self.now)

    async def get(self, url: str) -> Fetched | Failed:
        self.asked += 1
        return self.answer

    def says(self, text: str) -> None:
        self.answer = Fetched(f"{ORIGIN}/robots.txt", 200, body=text.encode())

    def fails(self, *, sent: bool) -> None:
        self.answer = Failed(f"{ORIGIN}/robots.txt", "timeout", sent=sent)

    def policy(self) -> RobotsPolicy:
        return self.robots.cached(ORIGIN) or asyncio.run(self.robots.fetch(ORIGIN))

    def ask_many(self, hosts: int) -> None:
        async def ask() -> None:
            for number in range(hosts):
                await self.robots.fetch(f"https://{number}.example")

        asyncio.run(ask())

    def forbids(self) -> str | None:
        return self.policy().forbids(f"{ORIGIN}/shut")


def test_rules_are_kept_for_a_day_and_then_asked_for_again() -> None:
    host = Host()
    host.says("User-agent: *\nDisallow: /shut")
    assert host.forbids() == "robots"
    host.says("")
    host.now = 24 * 3600 - 1
    assert host.forbids() == "robots"
    host.now = 24 * 3600
    assert host.forbids() is None
    assert host.asked == 2


def test_a_server_error_is_asked_about_again_soon_and_forgotten_once_it_has_passed() -> None:
    host = Host()
    host.answer = Fetched(f"{ORIGIN}/robots.txt", 503)
    assert host.forbids() == "robots_unreachable"
    host.now = 5
    assert host.forbids() == "robots_unreachable"
    host.says("")
    host.now = 14
    assert host.forbids() == "robots_unreachable"
    host.now = 15
    assert host.forbids() is None


def test_a_refusal_says_when_it_may_have_passed() -> None:
    host = Host()
    host.answer = Fetched(f"{ORIGIN}/robots.txt", 503)
    policy = host.policy()
    host.now = 2
    assert host.robots.refusal(f"{ORIGIN}/", policy) == Failed(
        f"{ORIGIN}/", "robots_unreachable", "robots.txt: http_503", sent=False, wait_seconds=3
    )


def test_a_host_that_says_when_to_come_back_is_not_asked_before() -> None:
    host = Host()
    host.answer = Fetched(f"{ORIGIN}/robots.txt", 503, wait_seconds=1000)
    host.forbids()
    host.says("")
    host.now = 999
    assert host.forbids() == "robots_unreachable"
    assert host.policy().wait_seconds(host.now) == 1


def test_known_rules_stay_in_force_while_the_file_cannot_be_had() -> None:
    host = Host()
    host.says("User-agent: *\nDisallow: /shut")
    host.forbids()
    host.fails(sent=True)
    host.now = 25 * 3600
    policy = host.policy()
    assert policy.forbids(f"{ORIGIN}/shut") == "robots"
    assert policy.forbids(f"{ORIGIN}/open") is None
    host.says("")
    host.now += 300
    assert host.forbids() is None


def test_a_host_that_is_down_is_tried_again_soon_and_then_less_often() -> None:
    host = Host()
    host.fails(sent=False)
    gaps = []
    for _ in range(9):
        assert host.forbids() == "timeout"
        gaps.append(host.policy().expires - host.now)
        host.now = host.policy().expires
    assert gaps == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert host.asked == 9


def test_the_number_of_hosts_remembered_is_limited() -> None:
    host = Host()
    host.ask_many(robots_module.MAX_HOSTS + 10)
    assert host.robots.cached("https://9.example") is None
    assert host.robots.cached("https://10.example") is not None


def test_the_size_of_rules_remembered_is_limited() -> None:
    host = Host()
    host.says(f"User-agent: *\nDisallow: /{'a' * 500_000}\n")
    needed = robots_module.MAX_CACHED_CHARS // host.policy().size + 1
    host.ask_many(needed)
    assert host.robots.cached(ORIGIN) is None
    assert host.robots.cached(f"https://{needed - 1}.example") is not None


def test_rules_that_are_asked_for_again_count_once() -> None:
    host = Host()
    host.says(f"User-agent: *\nDisallow: /{'a' * 500_000}\n")
    host.ask_many(1)
    for _ in range(robots_module.MAX_CACHED_CHARS // host.policy().size + 1):
        asyncio.run(host.robots.fetch(ORIGIN))
    assert host.robots.cached("https://0.example") is not None


def test_a_refusal_names_the_failure_of_robots_txt() -> None:
    host = Host()
    host.answer = Failed(f"{ORIGIN}/robots.txt", "timeout", "no answer in 20 s", sent=True)
    assert host.policy().detail == "robots.txt: timeout: no answer in 20 s"


@pytest.mark.parametrize(
    ("value", "delay"),
    [("3", 3.0), ("0.5", 0.5), ("nan", 0.0), ("-1", 0.0), ("soon", 0.0), ("inf", 0.0), ("99999999", 3600.0)],
)
def test_a_crawl_delay_is_a_sensible_number_of_seconds(value: str, delay: float) -> None:
    host = Host()
    host.says(f"User-agent: *\nCrawl-delay: {value}\n")
    assert host.policy().delay_seconds == delay


def test_names_and_rules_by_the_thousand_cost_no_product_of_both() -> None:
    names = "".join(f"User-agent: bot{number}\n" for number in range(15_000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(15_000))
    kept = list(rules_for("wayhound", f"{names}User-agent: *\n{rules}"))
    assert kept[0] == "User-agent: *"
    assert len(kept) == 15_001


def test_groups_are_told_apart_as_the_standard_says() -> None:
    text = """
        User-agent: one
        User-agent: two     # together
        Disallow: /both
        Sitemap: https://physics.example/map.xml
        Crawl-delay: 5

        User-agent: two
        Allow: /two

        User agent other
        Disallow: /other
        Unknown: line
        User-agent: *
        Disallow: /all
    """
    lines = {
        product: [line.split("#")[0].strip() for line in rules_for(product, text)]
        for product in ("one", "two")
    }
    everybody = ["User-agent: *", "Disallow: /all"]
    assert lines["one"] == ["User-agent: one", "Disallow: /both", "Crawl-delay: 5", *everybody]
    assert lines["two"] == [
        "User-agent: two",
        "Disallow: /both",
        "Crawl-delay: 5",
        "User-agent: two",
        "Allow: /two",
        *everybody,
    ]


def test_rules_before_any_name_are_nobodys() -> None:
    assert list(rules_for("wayhound", "Disallow: /a\nUser-agent: *\nDisallow: /b")) == [
        "User-agent: *",
        "Disallow: /b",
    ]


def test_sitemaps_are_named_on_any_line_in_any_case_and_each_once() -> None:
    host = Host()
    host.says(
        "User-agent: *\nSITEMAP: https://a.example/1.xml\n  sitemap:/2.xml\nSitemap: /2.xml\n# Sitemap: /no.xml"
    )
    assert host.policy().sitemaps == ("https://a.example/1.xml", "/2.xml")


def test_a_robots_txt_as_large_as_the_limit_may_be_cut_so_its_last_line_is_left_out() -> None:
    host, start, last = Host(), "User-agent: *\nDisallow: /open\n", "\nDisallow: /shut"
    host.says(start + "#" * (MAX_ROBOTS_BYTES - len(start) - len(last)) + last)
    assert host.forbids() is None
    host.says(start + "#" * (MAX_ROBOTS_BYTES - len(start) - len(last) - 1) + last)
    host.now = 24 * 3600
    assert host.forbids() == "robots"


def test_a_file_of_empty_lines_is_read_in_linear_time() -> None:
    """Looking on from every line through all that follow would take more than an hour."""
    host = Host()
    host.answer = Fetched(f"{ORIGIN}/robots.txt", 200, body=b"\n" * 499_000 + b"Sitemap: /map\n")
    assert host.policy().sitemaps == ("/map",)


def test_a_file_of_wildcards_without_end_forbids_everything_and_says_so() -> None:
    """All 40,000 that a file has room for would be compared with every URL, in a second each."""
    host = Host()
    rules = [f"Disallow: /*{number}$ # *" for number in range(robots_module.MAX_WILDCARDS)]
    host.says("\n".join(["User-agent: *", *rules, "Disallow: /shut # *"]))
    assert host.forbids() == "robots"
    assert host.policy().forbids(f"{ORIGIN}/open") is None
    host.says("\n".join(["User-agent: *", *rules, "Allow: /*"]))
    host.now = 24 * 3600
    assert host.robots.refusal(f"{ORIGIN}/open", host.policy()) == Failed(
        f"{ORIGIN}/open", "robots", "robots.txt has more than 1,000 rules with wildcards", sent=False
    )
    host.says("\n".join(["User-agent: other", *rules, "Allow: /*", "User-agent: *", "Disallow: /shut"]))
    host.now *= 2
    assert host.policy().forbids(f"{ORIGIN}/open") is None


LINES = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: Wayhound",
        "User-agent: other",
        "user agent other",
        "Disallow: /a",
        "Disallow: /",
        "Allow: /a/b",
        "Crawl-delay: 2",
        "Sitemap: /map",
        "",
        "# note",
        "nonsense",
    ]
)


@given(st.lists(LINES, max_size=12))
def test_leaving_out_other_robots_groups_changes_nothing_for_us(lines: list[str]) -> None:
    whole = Protego.parse("\n".join(lines))
    own = Protego.parse("\n".join(rules_for("wayhound", "\n".join(lines))))
    for path in ("/", "/a", "/a/b", "/c"):
        assert own.can_fetch(ORIGIN + path, "wayhound") == whole.can_fetch(ORIGIN + path, "wayhound")
    assert own.crawl_delay("wayhound") == whole.crawl_delay("wayhound")


@given(st.binary(max_size=400))
def test_any_bytes_make_a_policy(body: bytes) -> None:
    host = Host()
    host.answer = Fetched(f"{ORIGIN}/robots.txt", 200, body=body)
    assert host.policy().forbids(f"{ORIGIN}/shut") in {None, "robots"}


def test_the_clock_is_the_machines_when_none_is_given() -> None:
    robots = Robots(Host().get, "Wayhound")
    policy = asyncio.run(robots.fetch(ORIGIN))
    assert policy.expires > time.monotonic()
    assert robots.cached(ORIGIN) is policy
