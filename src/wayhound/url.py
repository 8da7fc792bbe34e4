"""Normalise URLs, so that a page is recognised when it is met again, and find the site that a URL belongs to.

The normal form follows RFC 3986, section 6.2.2 (case, percent-encoding, dot segments), and parses careless links
as browsers do (backslashes, line breaks, missing slashes). It also drops what identifies the visitor instead of
the page: tracking parameters, session ids, user names. The order of parameters stays, since it matters on some
sites.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

import idna
from publicsuffixlist import PublicSuffixList

MAX_URL_CHARS = 8_000
"""Common servers refuse longer request lines, so a longer URL cannot be fetched."""

_EDGES = "".join(map(chr, range(0x21)))  # browsers strip control characters and spaces from a link
_SPLIT = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(//[^/?#]*)?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

# Most links of most pages: a path that only has to be joined to its base.
_SIMPLE_PATH = re.compile(r"(?=.)/?+(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*+(?:/|\Z))*+")
_CLEAN = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*")
_NEEDS_CARE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Archives hold hosts with labels longer than the 63 characters of DNS, so these are valid too.
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r":[0-9]*\Z")

_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE)
_VISITOR_PARAMETER = re.compile(
    r"(?:utm_[^=]*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|srsltid|_ga|_gl"
    r"|li_fat_id|mc_cid|mc_eid|_hsenc|_hsmi|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|wickedid"
    r"|phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid)(?:=.*)?"
    # These also name talks and sections, so only a long hexadecimal value makes them a session.
    r"|(?:s|sid|sess|session|sessionid|session_id)=[0-9a-f-]{16,}",
    re.IGNORECASE | re.DOTALL,
)

_PLAIN = re.compile(r"https?://[^/?#%+~]+(/[^#%+~]*)")  # most URLs: nothing to unquote
_TOKEN = re.compile(r"~?[^\W_]+|~")


class _Base(NamedTuple):
    """A page's own URL in the parts that relative links need."""

    scheme: str
    origin: str  # http://host
    folder: str  # http://host/folder/
    path: str
    query: str


def normalise(url: str, base: str = "") -> str:
    """Return the absolute http or https URL in normal form, or "" if it cannot be fetched."""
    if _SIMPLE_PATH.fullmatch(url):
        parts = _split_base(base)
        return _within_limit(parts.origin + url if url[0] == "/" else parts.folder + url) if parts else ""
    return _normalise_any(url.strip(_EDGES), base)


def normalise_route(url: str, base: str = "") -> str:
    """Return the normal form with a fragment that names a page of a script, such as ``#/people`` or ``#!people``."""
    page = normalise(url, base)
    route = url.partition("#")[2].strip(_EDGES)
    if not page or len(route) < 2 or route[0] not in "/!":
        return page
    return _within_limit(f"{page}#{_NEEDS_CARE.sub(_escape, route)}")


def host_of(url: str) -> str:
    """Return the host, with its port unless that is the scheme's default; "" if the URL cannot be fetched."""
    scheme, authority, _, _ = _split(url)
    if scheme is None or authority is None:
        return ""
    return _origin(scheme.lower(), authority[2:]).partition("//")[2]


def registrable_domain(url: str) -> str:
    """Return the domain that one owner has registered, by the public suffix list: ``cornell.edu``.

    Private suffixes count, since ``ann.github.io`` and ``bob.github.io`` are two sites. IP addresses, localhost
    and names without a dot are returned as they are, with their port.
    """
    return _domain_of_host(host_of(url))


def url_tokens(url: str) -> tuple[str, ...]:
    """Return the words of a URL without its host, in lower case: ``~svc``, ``~``, ``papers``, ``html``.

    As in Vydiswaran & Sarawagi (2005), section 4.2: the file extension is a word, and ``~`` is a word of its own.
    Names and values of parameters are words too.
    """
    if plain := _PLAIN.fullmatch(url):
        return tuple(_TOKEN.findall(plain[1].lower()))
    _, _, path, query = _split(url)
    text = unquote(path) if query is None else f"{unquote(path)} {unquote_plus(query)}"
    words: list[str] = _TOKEN.findall(text.lower())
    if "~" not in text:
        return tuple(words)
    return tuple(part for word in words for part in ((word, "~") if word[0] == "~" != word else (word,)))


def _normalise_any(url: str, base: str) -> str:
    if not url.isprintable():
        url = url.replace("\t", "").replace("\n", "").replace("\r", "")
    if "\\" in url:
        url = _with_slashes(url)
    scheme, authority, path, query = _split(url)
    if scheme is not None:
        if authority is None or authority == "//":
            return _without_authority(scheme.lower(), url[len(scheme) + 1 :], base)
        return _absolute(scheme.lower(), authority, path, query)
    parts = _split_base(base)
    if parts is None:
        return ""
    if authority is not None:
        return _absolute(parts.scheme, authority, path, query)
    return _relative(parts, path, query)


def _split(url: str) -> tuple[str | None, str | None, str, str | None]:
    """Return scheme, authority with its two slashes, path and query."""
    match = _SPLIT.match(url)
    assert match is not None  # every part is optional, so the pattern matches anything
    scheme, authority, path, query = match.groups()
    return scheme, authority, path, query


def _with_slashes(url: str) -> str:
    end = min((at for at in (url.find("?"), url.find("#")) if at >= 0), default=len(url))
    return url[:end].replace("\\", "/") + url[end:]


def _without_authority(scheme: str, rest: str, base: str) -> str:
    """Normalise ``http:page`` as browsers do: relative if the base has that scheme, else a host."""
    if scheme not in _DEFAULT_PORTS:
        return ""
    if not rest.startswith("//"):
        parts = _split_base(base)
        if parts is not None and parts.scheme == scheme:
            _, _, path, query = _split(rest if rest[:1] in {"", "/", "?", "#"} else "./" + rest)
            return _relative(parts, path, query)
    _, authority, path, query = _split("//" + rest.lstrip("/"))
    return _absolute(scheme, authority, path, query)


def _absolute(scheme: str, authority: str | None, path: str, query: str | None) -> str:
    origin = _origin(scheme, (authority or "")[2:])
    return _join(origin, _path(path), query) if origin else ""


def _relative(base: _Base, path: str, query: str | None) -> str:
    """Resolve a relative reference (RFC 3986, section 5.2.2), without its fragment."""
    if not path:
        return _join(base.origin, base.path, base.query if query is None else query)
    if path[0] != "/":
        path = base.path[: base.path.rfind("/") + 1] + path
    return _join(base.origin, _path(path), query)


def _join(origin: str, path: str, query: str | None) -> str:
    return _within_limit(f"{origin}{path}?{kept}" if query and (kept := _query(query)) else origin + path)


def _within_limit(url: str) -> str:
    return url if len(url) <= MAX_URL_CHARS else ""


@lru_cache(maxsize=256)
def _split_base(base: str) -> _Base | None:
    url = normalise(base) if base else ""
    if not url:
        return None
    scheme, authority, path, query = _split(url)
    assert scheme is not None  # the normal form has one
    origin = f"{scheme}:{authority}"
    return _Base(scheme, origin, origin + path[: path.rfind("/") + 1], path, query or "")


def _path(path: str) -> str:
    if not path:
        return "/"
    if not _CLEAN.fullmatch(path):
        path = _NEEDS_CARE.sub(_escape, path)
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    return _without_dots(path) if "/." in path else path or "/"


def _query(query: str) -> str:
    if not _CLEAN.fullmatch(query):
        query = _NEEDS_CARE.sub(_escape, query)
    return "&".join([part for part in query.split("&") if part and not _VISITOR_PARAMETER.fullmatch(part)])


def _escape(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3:
        char = chr(int(text[1:], 16))
        return char if char in _UNRESERVED else text.upper()
    return "".join([f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass")])


def _without_dots(path: str) -> str:
    """Remove dot segments (RFC 3986, section 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


@lru_cache(maxsize=4096)
def _origin(scheme: str, authority: str) -> str:
    """Return ``https://host:port`` in normal form, or "" if the host is not valid. User names are dropped."""
    if scheme not in _DEFAULT_PORTS:
        return ""
    name = authority.rpartition("@")[2]
    port = ""
    if match := _PORT.search(name):
        name, port = name[: match.start()], match[0].rstrip(":")
    host = _host(name)
    port = _port(port)
    if not host or port == ":0":
        return ""
    return f"{scheme}://{host}{port if port != _DEFAULT_PORTS[scheme] else ''}"


def _port(port: str) -> str:
    """Return ``:80`` without leading zeros; ``:0``, which no server has, for a number out of range."""
    if not port:
        return ""
    number = int(port[1:]) if len(port) < 20 else 0
    return f":{number if number < 65536 else 0}"


def _host(name: str) -> str:
    if name.startswith("["):
        return _ipv6(name)
    if "%" in name:
        name = unquote(name, errors="replace")
    name = name.lower() if name.isascii() else _to_ascii(name)
    name = name.removesuffix(".")
    if not _HOST.fullmatch(name):
        return ""
    return _ipv4(name) if _NUMBER.fullmatch(name.rpartition(".")[2]) else name


def _to_ascii(name: str) -> str:
    if len(name) > 253:
        return ""
    try:
        return idna.encode(name, uts46=True, transitional=False).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ""


def _ipv6(name: str) -> str:
    try:
        return f"[{IPv6Address(name[1:-1]).compressed}]" if name[-1] == "]" and "%" not in name else ""
    except AddressValueError:
        return ""


def _ipv4(name: str) -> str:
    """Return the dotted form of an address, whose parts may have any base: ``0x7f.1`` is 127.0.0.1."""
    parts = name.split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)) or len(name) > 60:
        return ""
    try:
        numbers = [_parse_number(part) for part in parts]
    except ValueError:
        return ""
    last_limit = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= last_limit:
        return ""
    whole = numbers[-1] + sum(number * 256 ** (3 - at) for at, number in enumerate(numbers[:-1]))
    return ".".join(str(whole >> shift & 255) for shift in (24, 16, 8, 0))


def _parse_number(part: str) -> int:
    if part.startswith("0x"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part.startswith("0") and len(part) > 1 else 10)


@lru_cache(maxsize=4096)
def _domain_of_host(host: str) -> str:
    name = _PORT.sub("", host)
    if "." not in name or name.endswith((".localhost", "]")) or _NUMBER.fullmatch(name.rpartition(".")[2]):
        return host
    return _suffixes().privatesuffix(name) or name


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()  # reads a file, so only when first needed
