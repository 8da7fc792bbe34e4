"""One spelling for every URL, so that a page is known when it is met again, and the site that it belongs to.

The normal form follows RFC 3986, section 6.2.2 (case, percent-encoding, dot segments), and reads links as
browsers do where pages are careless (backslashes, line breaks, missing slashes). It also drops what names the
visitor instead of the page: tracking parameters, session ids, user names. The order of the parameters stays,
since it changes the meaning on some sites.
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
"""Common servers refuse longer request lines, so that a longer URL cannot be fetched."""

_EDGES = "".join(map(chr, range(0x21)))  # what browsers strip from a link: control characters and space
_SPLIT = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(//[^/?#]*)?([^?#]*)(?:\?([^#]*))?", re.DOTALL)
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

# Most links of most pages: a path that needs nothing but its base.
_SIMPLE_PATH = re.compile(r"(?=.)/?+(?:[A-Za-z0-9_~-][A-Za-z0-9_~.-]*+(?:/|\Z))*+")
_CLEAN = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/?]*")
_NEEDS_CARE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Archives know hosts with labels longer than the 63 characters of DNS, so those count as hosts too.
_HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r":[0-9]*\Z")

_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid)=[^;/]*", re.IGNORECASE)
_VISITOR_PARAMETER = re.compile(
    r"(?:utm_[^=]*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|srsltid|_ga|_gl"
    r"|li_fat_id|mc_cid|mc_eid|_hsenc|_hsmi|hsctatracking|mkt_tok|vero_id|oly_anon_id|oly_enc_id|wickedid"
    r"|phpsessid|jsessionid|aspsessionid[a-z]*|asp\.net_sessionid|cfid|cftoken|oscsid|zenid)(?:=.*)?"
    # These also name talks and sections, so that only a long hexadecimal value makes them a session.
    r"|(?:s|sid|sess|session|sessionid|session_id)=[0-9a-f-]{16,}",
    re.IGNORECASE | re.DOTALL,
)

_PLAIN = re.compile(r"https?://[^/?#%+~]+(/[^#%+~]*)")  # most URLs: nothing in them stands for something else
_TOKEN = re.compile(r"~?[^\W_]+|~")


class _Base(NamedTuple):
    """A page's own URL, cut so that its links can be completed."""

    scheme: str
    origin: str  # http://host
    folder: str  # http://host/folder/
    path: str
    query: str


def normalise(url: str, base: str = "") -> str:
    """The absolute http or https URL in normal form, or "" when it cannot be fetched."""
    if _SIMPLE_PATH.fullmatch(url):
        cut = _cut_base(base)
        return _whole(cut.origin + url if url[0] == "/" else cut.folder + url) if cut else ""
    return _normalise_with_care(url.strip(_EDGES), base)


def host_of(url: str) -> str:
    """The host, with its port where that is not the scheme's own; "" when the URL cannot be fetched."""
    scheme, authority, _, _ = _split(url)
    if scheme is None or authority is None:
        return ""
    return _origin(scheme.lower(), authority[2:]).partition("//")[2]


def registrable_domain(url: str) -> str:
    """The domain that one owner has registered, by the public suffix list: ``cornell.edu``.

    Private suffixes count, since ``ann.github.io`` and ``bob.github.io`` are two sites. Addresses, localhost
    and names without a dot stand for themselves with their port.
    """
    return _domain_of_host(host_of(url))


def url_tokens(url: str, base: str = "") -> tuple[str, ...]:
    """The words of a URL without its host, in lower case: ``~svc``, ``~``, ``papers``, ``html``.

    As in Vydiswaran & Sarawagi (2005), section 4.2: the file extension is a word, and ``~`` is one of its
    own. Names and values of parameters are words too. With a `base` on the same host, the folders that both
    share are left out.
    """
    if not base and (plain := _PLAIN.fullmatch(url)):
        return tuple(_TOKEN.findall(plain[1].lower()))
    _, authority, path, query = _split(url)
    if base:
        path = _below(path, authority, base)
    text = unquote(path) if query is None else f"{unquote(path)} {unquote_plus(query)}"
    words: list[str] = _TOKEN.findall(text.lower())
    if "~" not in text:
        return tuple(words)
    return tuple(part for word in words for part in ((word, "~") if word[0] == "~" != word else (word,)))


def _normalise_with_care(url: str, base: str) -> str:
    if not url.isprintable():
        url = url.replace("\t", "").replace("\n", "").replace("\r", "")
    if "\\" in url:
        url = _with_slashes(url)
    scheme, authority, path, query = _split(url)
    if scheme is not None:
        if authority is None or authority == "//":
            return _with_odd_scheme(scheme.lower(), url[len(scheme) + 1 :], base)
        return _absolute(scheme.lower(), authority, path, query)
    cut = _cut_base(base)
    if cut is None:
        return ""
    if authority is not None:
        return _absolute(cut.scheme, authority, path, query)
    return _relative(cut, path, query)


def _split(url: str) -> tuple[str | None, str | None, str, str | None]:
    """Scheme, authority with its two slashes, path and query."""
    found = _SPLIT.match(url)
    assert found is not None  # every part may be missing, so that the pattern matches anything
    scheme, authority, path, query = found.groups()
    return scheme, authority, path, query


def _with_slashes(url: str) -> str:
    end = min((at for at in (url.find("?"), url.find("#")) if at >= 0), default=len(url))
    return url[:end].replace("\\", "/") + url[end:]


def _with_odd_scheme(scheme: str, rest: str, base: str) -> str:
    """Browsers take ``http:page`` for relative when the base has that scheme, and for a host when not."""
    if scheme not in _DEFAULT_PORTS:
        return ""
    if not rest.startswith("//"):
        cut = _cut_base(base)
        if cut is not None and cut.scheme == scheme:
            _, _, path, query = _split(rest if rest[:1] in {"", "/", "?", "#"} else "./" + rest)
            return _relative(cut, path, query)
    _, authority, path, query = _split("//" + rest.lstrip("/"))
    return _absolute(scheme, authority, path, query)


def _absolute(scheme: str, authority: str | None, path: str, query: str | None) -> str:
    origin = _origin(scheme, (authority or "")[2:])
    return _join(origin, _path(path), query) if origin else ""


def _relative(base: _Base, path: str, query: str | None) -> str:
    """RFC 3986, section 5.2.2, without fragments."""
    if not path:
        return _join(base.origin, base.path, base.query if query is None else query)
    if path[0] != "/":
        path = base.path[: base.path.rfind("/") + 1] + path
    return _join(base.origin, _path(path), query)


def _join(origin: str, path: str, query: str | None) -> str:
    return _whole(f"{origin}{path}?{kept}" if query and (kept := _query(query)) else origin + path)


def _whole(url: str) -> str:
    return url if len(url) <= MAX_URL_CHARS else ""


@lru_cache(maxsize=256)
def _cut_base(base: str) -> _Base | None:
    whole = normalise(base) if base else ""
    if not whole:
        return None
    scheme, authority, path, query = _split(whole)
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
    found = match[0]
    if len(found) == 3:
        char = chr(int(found[1:], 16))
        return char if char in _UNRESERVED else found.upper()
    return "".join([f"%{byte:02X}" for byte in found.encode("utf-8", "surrogatepass")])


def _without_dots(path: str) -> str:
    """RFC 3986, section 5.2.4."""
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
    """``https://host:port`` in normal form, or "" when there can be no such host. User names are dropped."""
    if scheme not in _DEFAULT_PORTS:
        return ""
    name = authority.rpartition("@")[2]
    port = ""
    if found := _PORT.search(name):
        name, port = name[: found.start()], found[0].rstrip(":")
    host = _host(name)
    port = _port(port)
    if not host or port == ":0":
        return ""
    return f"{scheme}://{host}{port if port != _DEFAULT_PORTS[scheme] else ''}"


def _port(port: str) -> str:
    """``:80`` without leading zeros; ``:0``, which nobody can serve, for a number out of range."""
    if not port:
        return ""
    number = int(port[1:]) if len(port) < 20 else 0
    return f":{number if number < 65536 else 0}"


def _host(name: str) -> str:
    if name.startswith("["):
        return _ipv6(name)
    if "%" in name:
        name = unquote(name, errors="replace")
    name = name.lower() if name.isascii() else _in_ascii(name)
    name = name.removesuffix(".")
    if not _HOST.fullmatch(name):
        return ""
    return _ipv4(name) if _NUMBER.fullmatch(name.rpartition(".")[2]) else name


def _in_ascii(name: str) -> str:
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
    """One form for an address, which may be written in parts of any base: ``0x7f.1`` is 127.0.0.1."""
    parts = name.split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)) or len(name) > 60:
        return ""
    try:
        numbers = [_any_base(part) for part in parts]
    except ValueError:
        return ""
    last_limit = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= last_limit:
        return ""
    whole = numbers[-1] + sum(number * 256 ** (3 - at) for at, number in enumerate(numbers[:-1]))
    return ".".join(str(whole >> shift & 255) for shift in (24, 16, 8, 0))


def _any_base(part: str) -> int:
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
    return PublicSuffixList()  # reads its list from a file, so only when first asked


def _below(path: str, authority: str | None, base: str) -> str:
    _, base_authority, base_path, _ = _split(base)
    if authority != base_authority:
        return path
    mine, theirs = path.split("/"), base_path.split("/")
    shared = 0
    while shared < min(len(mine), len(theirs)) - 1 and mine[shared] == theirs[shared]:
        shared += 1
    return "/".join(mine[shared:])
