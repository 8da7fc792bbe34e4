"""Facts that a page states for machines: JSON-LD, microdata, RDFa Lite, microformats, and links to call or to write to.

Each syntax is read into `Item`s with schema.org property names; `item_facts` then reads all of them alike.
"""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.entities.contacts import clean_email, decode_protected, profile_urls
from wayhound.entities.hours import days_from_schema
from wayhound.entities.page_lines import ParsedPage

MAX_ITEMS = 2_000
MAX_VALUE_CHARS = 500
_MAX_DEPTH = 8


@dataclass
class Item:
    """A thing that the markup describes: its types, and its properties by schema.org name."""

    types: tuple[str, ...] = ()
    source: str = ""
    properties: dict[str, list[str | Item]] = dataclasses.field(default_factory=dict)

    def add(self, name: str, value: str | Item) -> None:
        if isinstance(value, str):
            value = " ".join(value[:MAX_VALUE_CHARS].split())
        if value:
            self.properties.setdefault(name, []).append(value)

    def texts(self, name: str) -> list[str]:
        return [value for value in self.properties.get(name, ()) if isinstance(value, str)]

    def text(self, name: str) -> str:
        return next(iter(self.texts(name)), "")

    def items(self, name: str) -> list[Item]:
        return [value for value in self.properties.get(name, ()) if isinstance(value, Item)]


_NO_PARTS: Mapping[str, str] = {}


class Stated(NamedTuple):
    """A value that the markup gives to a field. `parts` are those of an address; `item` groups values of one thing."""

    field: str
    text: str
    source: str
    item: int = -1
    types: tuple[str, ...] = ()
    parts: Mapping[str, str] = _NO_PARTS


ORGANISATIONS = re.compile(
    r"organi[sz]ation|business|restaurant|corporation|store|company|school|college|university|hotel|lodging|office|club|"
    r"place|museum|hospital|clinic|dentist|physician|agency|ngo|brand|food|bakery|cafe|bar$|church|service|vcard|h-card|hcard|"
    r"card|agent",
    re.IGNORECASE,
)


def read_markup(page: ParsedPage) -> list[Stated]:
    """Return all that a page states for machines. Its source is searched for words before the tree is."""
    tree, source = page.tree, page.source
    items: list[Item] = list(_json_ld(page.linked_data))
    if b"itemprop" in source:
        items += _annotated(tree, "itemscope", "itemprop", "itemtype", "microdata")
    has_properties = (
        b"property" in source
    )  # to look for a word in all of a page takes longer than to read a fact
    if has_properties and b"typeof=" in source:
        items += _annotated(tree, "typeof", "property", "typeof", "rdfa")
    if b"street-address" in source or _CARD.search(source):
        items += _microformats(tree)
    stated = [fact for number, item in enumerate(items[:MAX_ITEMS]) for fact in item_facts(item, number)]
    stated += _links(tree, source)
    stated += (Stated("social", profile.rstrip("/"), "link") for profile in profile_urls(source))
    return [*stated, *_open_graph(tree, source)] if has_properties else stated


# Syntaxes

_CARD = re.compile(rb"card(?:(?<=vcard)|(?<=h-card))")  # from the literal word, which the engine skips to


_WRAPPED = re.compile(r"^\s*(?://)?\s*<!(?:--|\[CDATA\[)|(?://)?\s*(?:-->|\]\]>)\s*;?\s*$")


def _json_ld(scripts: Iterable[str]) -> Iterator[Item]:
    for script in scripts:
        is_wrapped = "<!" in script or "]]>" in script or "-->" in script
        try:
            data = json.loads(_WRAPPED.sub("", script) if is_wrapped else script, strict=False)
        except (ValueError, RecursionError):
            continue
        yield from _flattened(_json_items(data, 0))


def _json_items(data: Any, depth: int) -> Iterator[Item]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(data, list):
        for entry in data[:MAX_ITEMS]:
            yield from _json_items(entry, depth + 1)
    elif isinstance(data, dict):
        if "@type" in data or depth == 0:
            yield _json_item(data, depth)
        for entry in (data.get("@graph"),):
            yield from _json_items(entry, depth + 1)


def _json_item(data: Mapping[str, Any], depth: int) -> Item:
    kinds = data.get("@type", ())
    kinds = kinds if isinstance(kinds, list) else [kinds]
    item = Item(tuple(str(kind) for kind in kinds if kind), "json-ld")
    for name, value in data.items():
        if name.startswith("@"):
            continue
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                if depth < _MAX_DEPTH:
                    item.add(name, _json_item(entry, depth + 1))
            elif isinstance(entry, (str, int, float)) and not isinstance(entry, bool):
                item.add(name, str(entry))
    return item


def _flattened(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items and those inside of them, such as the publisher of an article."""
    for item in items:
        yield item
        for values in item.properties.values():
            nested = [
                value
                for value in values
                if isinstance(value, Item) and ORGANISATIONS.search(" ".join(value.types))
            ]
            yield from _flattened(nested)


def _annotated(tree: LexborHTMLParser, scope: str, prop: str, kind: str, source: str) -> list[Item]:
    """Read microdata or RDFa: elements with a scope are items, elements with a property belong to the scope above."""
    by_node: dict[int, Item] = {}
    roots: list[Item] = []
    for node in tree.css(f"[{scope}], [{prop}]")[: 10 * MAX_ITEMS]:
        attributes = node.attributes
        names = [_local(name) for name in (attributes.get(prop) or "").split()]
        item = None
        if scope in attributes and (scope != "typeof" or attributes.get(scope)):
            kinds = tuple(_local(name) for name in (attributes.get(kind) or "").split())
            item = by_node.setdefault(node.mem_id, Item(kinds, source))
        owner = _owner(node, by_node)
        if item is not None and (owner is None or not names):
            roots.append(item)
        for name in names:
            if owner is not None:
                owner.add(name, item if item is not None else _value_of(node))
    return roots


def _owner(node: LexborNode, by_node: Mapping[int, Item]) -> Item | None:
    above, steps = node.parent, 0
    while above is not None and steps < 400:
        if above.mem_id in by_node:
            return by_node[above.mem_id]
        above, steps = above.parent, steps + 1
    return None


def _local(name: str) -> str:
    """Return the last part of `http://schema.org/Restaurant`, `v:Organization` or a bare name."""
    return re.split(r"[/#:]", name.rstrip("/"))[-1]


def _value_of(node: LexborNode) -> str:
    attributes = node.attributes
    for name in ("content", "datetime"):
        if attributes.get(name):
            return attributes[name] or ""
    if node.tag in ("a", "link") and (href := attributes.get("href")):
        text = node.text(separator=" ").strip()
        return unquote(href[7:]) if href.startswith("mailto:") else text or href
    return node.text(separator=" ")


_CLASSES = {
    "name": ("fn", "org", "p-name", "p-org"),
    "telephone": ("tel", "p-tel"),
    "email": ("email", "u-email"),
    "streetAddress": ("street-address", "p-street-address"),
    "addressLocality": ("locality", "p-locality"),
    "addressRegion": ("region", "p-region"),
    "postalCode": ("postal-code", "p-postal-code"),
    "addressCountry": ("country-name", "p-country-name"),
    "latitude": ("latitude", "p-latitude"),
    "longitude": ("longitude", "p-longitude"),
}


def _microformats(tree: LexborHTMLParser) -> list[Item]:
    roots = tree.css(".vcard, .h-card") or ([tree.body] if tree.body else [])
    items = []
    for root in roots[:MAX_ITEMS]:
        item = Item(("hcard",), "hcard")
        for name, classes in _CLASSES.items():
            nodes = root.css(", ".join(f".{each}" for each in classes))
            for node in nodes[: 1 if name == "name" else 3]:
                value = node.attributes.get("title") if node.tag == "abbr" else None
                item.add(name, value or node.text(separator=" "))
        if item.properties:
            items.append(item)
    return items


# Properties to fields

_FIELDS = {
    "telephone": "phone", "tel": "phone", "faxNumber": "fax", "email": "email", "vatID": "registration",
    "taxID": "registration", "servesCuisine": "cuisine", "cuisine": "cuisine", "priceRange": "price",
    "pricerange": "price", "sameAs": "social",
}  # fmt: skip
_RELATIONS = {
    "parentOrganization": "part_of", "department": "parts", "subOrganization": "parts", "employee": "people",
    "founder": "people", "member": "people", "worksFor": "works_for", "affiliation": "works_for",
}  # fmt: skip
"""Properties whose value is another thing, by name."""

_ADDRESS_PARTS = ("streetAddress", "postalCode", "addressLocality", "addressRegion", "addressCountry")
_RDFA_PARTS = {"street-address": "streetAddress", "locality": "addressLocality", "region": "addressRegion",
               "postal-code": "postalCode", "country-name": "addressCountry"}  # fmt: skip
_CODE_LAST = frozenset("US CA GB AU IN BR NZ IE".split())


def item_facts(item: Item, number: int) -> Iterator[Stated]:
    """Yield the facts of an item that describes an organisation, a place or a person."""
    kinds = " ".join(item.types)
    is_ours = bool(ORGANISATIONS.search(kinds)) or "erson" in kinds or "ContactPoint" in kinds
    if not is_ours and item.types:
        return
    for name, field_name in _FIELDS.items():
        for text in item.texts(name):
            yield Stated(field_name, text, item.source, number, item.types)
    for name in ("name", "legalName", "fn"):
        for text in item.texts(name)[:1]:
            yield Stated("name", text, item.source, number, item.types)
    yield from _relations(item, number)
    for point in item.items("contactPoint"):
        yield from item_facts(point, number)
    for address in (*item.items("address"), *item.items("location"), *item.items("adr"), item):
        if parts := _address_parts(address):
            yield Stated("address", format_parts(parts), item.source, number, item.types, parts)
    for text in item.texts("address"):
        yield Stated("address", text, item.source, number, item.types)
    yield from _hours(item, number)
    yield from _coordinates(item, number)


def _relations(item: Item, number: int) -> Iterator[Stated]:
    """Yield the names of other things that an item belongs to, or that belong to it."""
    for name, label in _RELATIONS.items():
        others = [
            other.text("name")
            for other in item.items(name)
            if ("Person" in other.types)
            == (label == "people")  # a founder may be a firm, even the firm itself
        ]
        for text in (*item.texts(name), *others):
            if text and "://" not in text and text != item.text("name"):
                yield Stated(label, text, item.source, number, item.types)


def _address_parts(item: Item) -> dict[str, str]:
    parts = {name: item.text(name) or item.text(old) for old, name in _RDFA_PARTS.items()}
    for country in item.items("addressCountry"):
        parts["addressCountry"] = country.text("name")
    parts = {name: parts[name] for name in _ADDRESS_PARTS if parts.get(name)}
    return parts if len(parts) >= 2 or "streetAddress" in parts else {}


def format_parts(parts: Mapping[str, str]) -> str:
    """Return an address on one line in the order of its country."""
    street, code, city, region, country = (parts.get(name, "") for name in _ADDRESS_PARTS)
    if country.upper() in _CODE_LAST or (region and not code) or (region and len(region) <= 3):
        place = f"{city}, {region} {code}" if region else f"{city} {code}"
    else:
        place = f"{code} {city}" + (f", {region}" if region and region != city else "")
    texts = (" ".join(text.replace(" ,", ",").split()).strip(" ,") for text in (street, place, country))
    return ", ".join(text for text in texts if text)


def _hours(item: Item, number: int) -> Iterator[Stated]:
    for text in item.texts("openingHours"):
        yield Stated("hours", text, item.source, number, item.types)
    for spec in item.items("openingHoursSpecification"):
        if text := days_from_schema(spec.texts("dayOfWeek"), spec.text("opens"), spec.text("closes")):
            yield Stated("hours", text, item.source, number, item.types)


def _coordinates(item: Item, number: int) -> Iterator[Stated]:
    for geo in (*item.items("geo"), item):
        try:
            latitude, longitude = float(geo.text("latitude")), float(geo.text("longitude"))
        except ValueError:
            continue
        if abs(latitude) <= 90 and abs(longitude) <= 180 and (latitude or longitude):
            yield Stated("coordinates", f"{latitude:.6g},{longitude:.6g}", item.source, number, item.types)
            return


# Links and OpenGraph


# Found in the source, in lower case: to search the tree takes three times as long. `&#`: written as references.
_HREF = re.compile(rb"href\s?=\s?([\"']?)\s?(?=tel:|mailto:|callto:|&#)")
_TARGETS = {b'"': re.compile(rb'[^">]*'), b"'": re.compile(rb"[^'>]*"), b"": re.compile(rb"[^\s>]*")}
_BETWEEN_ADDRESSES = re.compile(r"[;,<>]")  # of several people, or after a name


def _hrefs(source: bytes) -> Iterator[str]:
    """Yield the targets of links to call or to write to, without those in comments."""
    seen, is_comment = 0, False
    for match in islice(_HREF.finditer(source.lower()), MAX_ITEMS):
        place = match.start()
        begun, ended = source.rfind(b"<!--", seen, place), source.rfind(b"-->", seen, place)
        is_comment = begun > ended or (is_comment and ended < 0)
        seen = place
        target = None if is_comment else _TARGETS[match[1]].match(source, match.end())
        if target:
            yield unescape(target[0].decode("utf-8", "replace"))


def _links(tree: LexborHTMLParser, source: bytes) -> list[Stated]:
    phones: list[Stated] = []
    emails: list[Stated] = []
    for href in _hrefs(source):
        scheme, _, target = href.partition(":")
        match scheme.strip().lower():
            case "mailto":
                addresses = map(clean_email, _BETWEEN_ADDRESSES.split(target.partition("?")[0]))
                emails += (Stated("email", email, "mailto") for email in addresses if email)
            case "tel" | "callto":
                phones.append(Stated("phone", unquote(target), "tel"))
    data = _DATA_MAIL.search(source) is not None
    if data or b"email-protection#" in source:
        for node in tree.css('[data-cfemail], a[href*="email-protection#"]')[:MAX_ITEMS]:
            code = (
                node.attributes.get("data-cfemail") or (node.attributes.get("href") or "").partition("#")[2]
            )
            if email := decode_protected(code):
                emails.append(Stated("email", email, "cloudflare"))
    if data:
        emails += (Stated("email", email, "link") for email in _in_attributes(tree))
    return phones + emails


_DATA_MAIL = re.compile(rb"data-(?:(?:cf)?e?-?mail|domain|host)[\w-]*\s?=")
_LOCAL_NAMES = ("user", "name", "local", "mailbox", "account", "login", "before", "u")
_HOST_NAMES = ("domain", "host", "server", "after", "d")


def _in_attributes(tree: LexborHTMLParser) -> Iterator[str]:
    """Yield e-mail addresses that scripts put together: `data-user="info" data-domain="acme.org"`, or encoded whole."""
    for node in tree.css("[data-email], [data-mail], [data-e-mail], [data-domain], [data-host]")[:MAX_ITEMS]:
        parts = {name[5:]: value or "" for name, value in node.attributes.items() if name.startswith("data-")}
        local = next((parts[name] for name in _LOCAL_NAMES if parts.get(name)), "")
        host = next((parts[name] for name in _HOST_NAMES if parts.get(name)), "")
        whole = next((parts[name] for name in ("email", "mail", "e-mail") if parts.get(name)), "")
        tld = parts.get("tld", "").lstrip(".")
        guesses = (
            f"{local}@{host}.{tld}" if tld else f"{local}@{host}",
            whole,
            whole[::-1],
            _unpacked(whole),
        )
        if email := next((email for guess in guesses if (email := clean_email(guess))), ""):
            yield email


def _unpacked(text: str) -> str:
    """Return what is encoded in base 64; empty if nothing is."""
    try:
        return b64decode(text, validate=True).decode("ascii")
    except ValueError:
        return ""


def _open_graph(tree: LexborHTMLParser, source: bytes) -> Iterator[Stated]:
    end = source.find(b"</head")
    if source.find(b"og:", 0, end) < 0 and source.find(b"business:contact_data", 0, end) < 0:
        return
    values: dict[str, str] = {}
    for node in (tree.head or tree).css("meta[property]")[:200]:
        values.setdefault(
            (node.attributes.get("property") or "").lower(), node.attributes.get("content") or ""
        )
    for name, field_name in (("og:site_name", "site_name"), ("og:title", "og_title"), ("og:phone_number", "phone"),
                             ("og:email", "email"), ("business:contact_data:phone_number", "phone")):  # fmt: skip
        if text := " ".join(values.get(name, "")[:MAX_VALUE_CHARS].split()):
            yield Stated(field_name, text, "opengraph")
    parts = {name: values[key] for name, key in (
        ("streetAddress", "og:street-address"), ("addressLocality", "og:locality"), ("addressRegion", "og:region"),
        ("postalCode", "og:postal-code"), ("addressCountry", "og:country-name")) if values.get(key)}  # fmt: skip
    if len(parts) >= 2:
        yield Stated("address", format_parts(parts), "opengraph", parts=parts)
