from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers import Answer, closed_port, serve
from wayhound.fetched import Failed, Fetched
from wayhound.net.guard import REFUSED_PORTS, Guard, GuardedResolver, PrivateAddressError, is_public
from wayhound.net.http import HttpFetcher, Timeouts

PATIENT = Timeouts(connect_seconds=30, read_seconds=30, total_seconds=60)


def fetch(url: str, *, allow_private: bool = False, respect_robots: bool = True) -> Fetched | Failed:
    async def run() -> Fetched | Failed:
        fetcher = HttpFetcher(allow_private=allow_private, respect_robots=respect_robots, timeouts=PATIENT)
        async with fetcher:
            return await fetcher.fetch(url)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.251",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",  # IPv4-compatible 127.0.0.1
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",  # NAT64 of 10.0.0.1
        "64:ff9b:1::1",
        "100::1",
        "2001::1",  # Teredo
        "2001:db8::1",
        "2002:7f00:1::",  # 6to4 of 127.0.0.1
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%lo",
        "fec0::1",
        "ff02::1",
    ],
)
def test_addresses_that_not_everybody_shares_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    assert not Guard().allows(address)
    assert Guard(allow_private=True).allows(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "93.184.216.34",
        "172.32.0.1",
        "192.167.255.255",
        "223.255.255.255",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_by_itself(inner: IPv4Address) -> None:
    assert is_public(IPv6Address(f"::ffff:{inner}")) == is_public(inner)
    assert is_public(IPv6Address(int(IPv6Address("64:ff9b::")) + int(inner))) == is_public(inner)
    assert is_public(IPv6Address((0x2002 << 112) + (int(inner) << 80))) == is_public(inner)


@given(st.ip_addresses())
def test_nothing_is_public_that_the_standard_library_calls_private(
    address: IPv4Address | IPv6Address,
) -> None:
    if address.is_private or address.is_multicast or address.is_link_local or address.is_loopback:
        embeds_public = isinstance(address, IPv6Address) and is_public(address.ipv4_mapped or IPv4Address(0))
        assert not is_public(address) or embeds_public


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.0x1",
        "0177.0.0.1",
        "017700000001",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:0:0:1]",
        "[fe80::1%25lo]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "physics.localhost",
        "10.0.0.1",
        "169.254.169.254",
    ],
)
@pytest.mark.parametrize("respect_robots", [True, False])
def test_this_machine_and_its_neighbours_are_not_asked_in_any_spelling(
    host: str, respect_robots: bool
) -> None:
    with serve({"/": "inside"}) as site:
        got = fetch(f"http://{host}:{site.port}/", respect_robots=respect_robots)
        assert isinstance(got, Failed)
        assert (got.reason, got.sent) == ("private_address", False)
        assert site.connections == 0


def test_a_page_of_this_machine_can_be_allowed() -> None:
    with serve({"/": "inside"}) as site:
        assert fetch(f"{site}/", allow_private=True).outcome == "ok"


def test_names_under_localhost_are_this_machine_without_a_lookup() -> None:
    pages = {"//physics.localhost/": "physics", "//maths.localhost/": "maths"}
    with serve(pages) as site:
        for name in ("physics", "maths"):
            got = fetch(f"{site.at(f'{name}.localhost')}/", allow_private=True)
            assert isinstance(got, Fetched)
            assert (got.body.decode(), got.ip) == (name, "127.0.0.1")


def test_the_target_of_a_redirect_is_checked_like_any_other_page() -> None:
    with serve({"/": "inside"}) as inside:
        with serve({"/": Answer(status=302, headers=(("Location", f"{inside}/"),))}) as site:
            hop = fetch(f"{site}/", allow_private=True)
        assert isinstance(hop, Fetched)
        assert hop.location == f"{inside}/"
        assert fetch(hop.location).outcome == "private_address"
        assert inside.connections == 0


@pytest.mark.parametrize("name", ["127.1", "0x7f000001", "127.0.0.1", "::1"])
def test_what_a_lookup_yields_is_checked_before_it_is_connected_to(name: str) -> None:
    """These are looked up without a name server, and stand for any name that resolves to such an address."""

    async def resolve(guard: Guard) -> list[str]:
        resolver = GuardedResolver(guard)
        try:
            return [found["host"] for found in await resolver.resolve(name, 80)]
        finally:
            await resolver.close()

    with pytest.raises(PrivateAddressError, match="no public address"):
        asyncio.run(resolve(Guard()))
    assert set(asyncio.run(resolve(Guard(allow_private=True)))) == {"::1" if ":" in name else "127.0.0.1"}


def test_a_public_address_passes_the_resolver_as_it_is() -> None:
    async def resolve() -> list[tuple[int, str, int, int]]:
        resolver = GuardedResolver(Guard())
        try:
            found = await resolver.resolve("93.184.216.34", 443)
        finally:
            await resolver.close()
        return [(one["family"], one["host"], one["port"], one["flags"]) for one in found]

    numbers_alone = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV  # what was checked is not looked up again
    assert asyncio.run(resolve()) == [(socket.AF_INET, "93.184.216.34", 443, numbers_alone)]


def test_aiohttp_connects_to_nothing_that_the_resolver_refuses() -> None:
    async def ask(port: int) -> None:
        resolver = GuardedResolver(Guard())
        connector = aiohttp.TCPConnector(resolver=resolver)
        async with aiohttp.ClientSession(connector=connector) as session:
            try:
                await session.get(f"http://0x7f.1:{port}/")
            finally:
                await resolver.close()

    with serve({"/": "inside"}) as site:
        with pytest.raises(PrivateAddressError):
            asyncio.run(ask(site.port))
        assert site.connections == 0


def test_a_name_that_resolves_to_a_private_address_is_refused_by_the_fetcher() -> None:
    """The machine's own name is in its hosts file, so that no name server is asked."""
    name = socket.gethostname()
    try:
        addresses = {str(found[4][0]) for found in socket.getaddrinfo(name, 80)}
    except OSError:
        pytest.skip("the machine does not know its own name")
    if any(is_public(ip_address(address)) for address in addresses):
        pytest.skip("the machine's own name has a public address")
    got = fetch(f"http://{name}:{closed_port()}/")
    assert isinstance(got, Failed)
    assert (got.reason, got.sent) == ("private_address", False)


@pytest.mark.parametrize("port", [22, 25, 6667])
def test_ports_of_other_services_are_refused_even_where_private_addresses_are_not(port: int) -> None:
    got = fetch(f"http://127.0.0.1:{port}/", allow_private=True)
    assert isinstance(got, Failed)
    assert (got.reason, got.sent) == ("refused_port", False)
    assert str(port) in got.detail


def test_web_servers_ports_are_not_refused() -> None:
    assert not REFUSED_PORTS & {80, 81, 443, 591, 3000, 5000, 8000, 8080, 8443, 8765, 8888}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST.", "a.localhost"])
def test_this_machine_is_refused_by_name_before_any_lookup(host: str) -> None:
    refused = Guard().refusal(host, 80)
    assert refused is not None
    assert refused.reason == "private_address"
    assert Guard(allow_private=True).refusal(host, 80) is None
