"""Keeps a crawler out of the network that it runs in (server-side request forgery).

A link, a redirect or a name server may point at the machine itself, at its neighbours or at a cloud's metadata service.
Addresses are therefore checked after the lookup and before the connection, which goes to the very address that was
checked, so that a name cannot resolve differently in between (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from wayhound.fetched import FailureReason

LOOKUP_THREADS = 16
"""Each lookup blocks a thread; with a pool of their own, slow name servers delay nothing but lookups."""

# IANA's special-purpose registries for IPv4 and IPv6 (RFC 6890). Written out, because what the standard library counts
# as public has changed from one Python release to the next.
_NOT_PUBLIC_V4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers (RFC 6598)
            "127.0.0.0/8",
            "168.63.129.16/32",  # public by its number, but internal to a cloud
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/3",  # multicast, reserved and broadcast
        ),
    )
)
_UNICAST_V6 = IPv6Network("2000::/3")
_NOT_PUBLIC_V6 = tuple(map(IPv6Network, ("2001::/23", "2001:db8::/32", "3fff::/20")))
_NAT64 = IPv6Network("64:ff9b::/96")

# The ports that browsers refuse (Fetch standard, "bad port"): what listens there is not a web server, and may take the
# lines of a request for commands.
# fmt: off
REFUSED_PORTS = frozenset({
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513,
    514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719,
    1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
    6697, 10080,
})
# fmt: on


class PrivateAddressError(Exception):
    """None of the addresses of a name may be connected to."""


class Refusal(NamedTuple):
    """Why no request to a host is sent."""

    reason: FailureReason
    detail: str


class Guard:
    """Decides which hosts and addresses may be connected to."""

    def __init__(self, *, allow_private: bool = False) -> None:
        self.allow_private = allow_private

    def refusal(self, host: str, port: int) -> Refusal | None:
        """Check what is known before a lookup: the port, addresses in any spelling, and localhost."""
        if port in REFUSED_PORTS:
            return Refusal("refused_port", f"port {port} is not used by web servers")
        if self.allow_private:
            return None
        if is_localhost(host):
            return Refusal("private_address", f"{host} is this machine")
        address = _literal(host)
        if address is not None and not is_public(address):
            return Refusal("private_address", f"{address} is not a public address")
        return None

    def allows(self, address: str) -> bool:
        return self.allow_private or is_public(ip_address(address))


class GuardedResolver(AbstractResolver):
    """Resolves names for aiohttp without the addresses that the guard refuses."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._threads = ThreadPoolExecutor(LOOKUP_THREADS, thread_name_prefix="lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        if is_localhost(host):  # RFC 6761, section 6.3: never ask name servers for these
            addresses = [(socket.AF_INET, "127.0.0.1")]
        else:
            addresses = await self._look_up(host, port, family)
        allowed = [
            _result(host, port, kind, address) for kind, address in addresses if self._guard.allows(address)
        ]
        if addresses and not allowed:
            raise PrivateAddressError(f"{host} has no public address, only {addresses[0][1]}")
        return allowed

    async def _look_up(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> list[tuple[socket.AddressFamily, str]]:
        arguments = (host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
        try:
            loop = asyncio.get_running_loop()
            answers = await loop.run_in_executor(self._threads, socket.getaddrinfo, *arguments)
        except UnicodeError as error:  # a label that the DNS does not allow
            raise OSError(f"{host} is not a name that can be looked up") from error
        return [(kind, str(address[0])) for kind, _, _, _, address in answers]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Return True if the address means the same host everywhere on the internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_V4)
    inner = _embedded(address)
    if inner is not None:
        return is_public(inner)
    return address in _UNICAST_V6 and not any(address in network for network in _NOT_PUBLIC_V6)


def is_localhost(host: str) -> bool:
    name = host.rstrip(".").lower()
    return name == "localhost" or name.endswith(".localhost")


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that a gateway or the system would translate this one to."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    """Return the address that a host spells out, as systems read it: also 127.1, 0x7f000001 and 017700000001."""
    try:
        if ":" in host:
            return IPv6Address(host)
        return IPv4Address(socket.inet_aton(host.rstrip("."))) if host[:1].isdigit() else None
    except (OSError, ValueError):
        return None


def _result(host: str, port: int, family: socket.AddressFamily, address: str) -> ResolveResult:
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=numeric)
