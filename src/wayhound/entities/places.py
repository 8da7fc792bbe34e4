"""Gazetteer of postal addresses: countries with their names, post codes and street words, and states.

Compiled by hand from the countries' own conventions for mail. A country that is missing here is still read where its
addresses follow a shape of another one; its name then only labels the address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from wayhound.entities.kept import keep
from wayhound.text.words import fold

Placed = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Country:
    """A country's shape of post codes, where they stand relative to the city, its languages and names.

    `code` is ISO 3166-1; `post_code` is a regular expression without groups; an empty one means that addresses have
    no post code.
    """

    code: str
    post_code: str
    city: Placed
    languages: tuple[str, ...]
    names: tuple[str, ...]


def _country(code: str, post_code: str, city: Placed, languages: str, names: str) -> Country:
    return Country(code, post_code, city, tuple(languages.split()), tuple(names.split(" | ")))


_5, _4, _6 = r"\d{5}", r"\d{4}", r"\d{6}"
COUNTRIES: dict[str, Country] = {country.code: country for country in (
    _country("US", r"\d{5}(?:-\d{4})?", "before", "en", "United States of America | United States | USA | U.S.A."),
    _country("CA", r"[ABCEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d", "before", "en fr", "Canada"),
    _country("GB", r"(?:GIR 0AA|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})", "before", "en",
             "United Kingdom | England | Scotland | Wales | Northern Ireland | Great Britain | UK"),
    _country("IE", r"[ACDEFHKNPRTVWXY]\d[\dW] ?[A-Z\d]{4}", "before", "en ga", "Ireland | Éire"),
    _country("AU", _4, "before", "en", "Australia"),
    _country("NZ", _4, "before", "en mi", "New Zealand | Aotearoa"),
    _country("IN", r"\d{3} ?\d{3}", "before", "en hi", "India | Bharat"),
    _country("ZA", _4, "before", "en af zu", "South Africa"),
    _country("SG", _6, "before", "en", "Singapore"),
    _country("DE", rf"(?:D[- ])?{_5}", "after", "de", "Germany | Deutschland"),
    _country("AT", rf"(?:A[- ])?{_4}", "after", "de", "Austria | Österreich"),
    _country("CH", rf"(?:CH[- ])?{_4}", "after", "de fr it rm", "Switzerland | Schweiz | Suisse | Svizzera"),
    _country("LI", rf"(?:FL[- ])?{_4}", "after", "de", "Liechtenstein"),
    _country("FR", rf"(?:F[- ])?{_5}", "after", "fr", "France | Frankreich"),
    _country("BE", rf"(?:B[- ])?{_4}", "after", "nl fr de", "Belgium | Belgique | België | Belgien"),
    _country("LU", rf"(?:L[- ])?{_4}", "after", "fr de lb", "Luxembourg | Luxemburg"),
    _country("NL", r"(?:NL[- ])?[1-9]\d{3} ?[A-Z]{2}", "after", "nl fy",
             "Netherlands | The Netherlands | Nederland | Niederlande | Holland"),
    _country("IT", rf"(?:I[- ])?{_5}", "after", "it", "Italy | Italia | Italien"),
    _country("SM", r"4789\d", "after", "it", "San Marino | Repubblica di San Marino | Rep. San Marino"),
    _country("ES", rf"(?:E[- ])?{_5}", "after", "es ca gl eu", "Spain | España | Espanya | Spanien"),
    _country("PT", r"\d{4}-\d{3}", "after", "pt", "Portugal"),
    _country("BR", r"\d{5}-?\d{3}", "before", "pt", "Brazil | Brasil"),
    _country("MX", rf"(?:C\. ?P\. ?|CP )?{_5}", "after", "es", "Mexico | México"),
    _country("AR", r"(?:[A-Z]?\d{4}(?:[A-Z]{3})?)", "after", "es", "Argentina"),
    _country("CL", r"\d{7}", "before", "es", "Chile"),
    _country("CO", _6, "before", "es", "Colombia"),
    _country("PE", _5, "before", "es", "Peru | Perú"),
    _country("EC", _6, "before", "es", "Ecuador"),
    _country("UY", _5, "after", "es", "Uruguay"),
    _country("PL", r"(?:PL[- ])?\d{2}-\d{3}", "after", "pl", "Poland | Polska | Polen"),
    _country("CZ", r"(?:CZ[- ])?\d{3} ?\d{2}", "after", "cs", "Czech Republic | Czechia | Česká republika | Česko"),
    _country("SK", r"(?:SK[- ])?\d{3} ?\d{2}", "after", "sk", "Slovakia | Slovensko | Slovenská republika"),
    _country("SI", rf"(?:SI[- ])?{_4}", "after", "sl", "Slovenia | Slovenija"),
    _country("HR", rf"(?:HR[- ])?{_5}", "after", "hr", "Croatia | Hrvatska"),
    _country("RS", _5, "after", "sr", "Serbia | Srbija"),
    _country("HU", rf"(?:H[- ])?{_4}", "after", "hu", "Hungary | Magyarország"),
    _country("RO", _6, "after", "ro", "Romania | România"),
    _country("BG", _4, "after", "bg", "Bulgaria | България"),
    _country("GR", r"\d{3} ?\d{2}", "after", "el", "Greece | Ελλάδα"),
    _country("SE", r"(?:SE?[- ])?\d{3} ?\d{2}", "after", "sv", "Sweden | Sverige"),
    _country("NO", rf"(?:N[- ])?{_4}", "after", "no nb nn", "Norway | Norge"),
    _country("DK", rf"(?:DK[- ])?{_4}", "after", "da", "Denmark | Danmark"),
    _country("FI", rf"(?:FI[- ])?{_5}", "after", "fi sv", "Finland | Suomi"),
    _country("IS", r"\d{3}", "after", "is", "Iceland | Ísland"),
    _country("EE", _5, "after", "et", "Estonia | Eesti"),
    _country("LV", r"LV-\d{4}", "before", "lv", "Latvia | Latvija"),
    _country("LT", r"(?:LT-)?\d{5}", "after", "lt", "Lithuania | Lietuva"),
    _country("RU", _6, "after", "ru", "Russia | Россия | Russian Federation"),
    _country("UA", _5, "after", "uk ru", "Ukraine | Україна"),
    _country("TR", _5, "after", "tr", "Turkey | Türkiye"),
    _country("IL", r"\d{7}|\d{5}", "before", "he", "Israel | ישראל"),
    _country("AE", "", "before", "ar en", "United Arab Emirates | UAE"),
    _country("JP", r"〒? ?\d{3}[-－‐]\d{4}", "after", "ja", "Japan | 日本"),
    _country("CN", _6, "before", "zh", "China | P.R. China | PR China | 中国"),
    _country("TW", r"\d{3}(?:\d{2,3})?", "after", "zh", "Taiwan | 台灣 | 臺灣"),
    _country("KR", _5, "before", "ko", "South Korea | Korea | Republic of Korea | 대한민국"),
    _country("UG", "", "before", "en", "Uganda"),
    _country("KE", _5, "before", "en sw", "Kenya"),
    _country("NG", _6, "before", "en", "Nigeria"),
    _country("HK", "", "before", "zh en", "Hong Kong"),
    _country("MY", _5, "after", "ms en", "Malaysia"),
    _country("TH", _5, "before", "th", "Thailand"),
    _country("PH", _4, "before", "en tl", "Philippines"),
    _country("ID", _5, "before", "id", "Indonesia"),
    _country("VN", _6, "before", "vi", "Vietnam | Việt Nam"),
)}  # fmt: skip

TOP_LEVEL = {"uk": "GB"}
"""Top-level domains that are not their country's code in lower case."""

_GENERIC = frozenset("ai co fm gg io ly me sh so st tv ws to cc".split())
"""Country domains that are sold to everybody and say nothing about the place."""

LANGUAGE_COUNTRIES = {
    "bg": "BG", "cs": "CZ", "da": "DK", "de": "DE", "el": "GR", "es": "ES", "et": "EE", "fi": "FI", "fr": "FR",
    "he": "IL", "hr": "HR", "hu": "HU", "it": "IT", "ja": "JP", "ko": "KR", "lt": "LT", "lv": "LV", "nb": "NO",
    "nl": "NL", "nn": "NO", "no": "NO", "pl": "PL", "pt": "BR", "ro": "RO", "ru": "RU", "sk": "SK", "sl": "SI",
    "sr": "RS", "sv": "SE", "th": "TH", "tr": "TR", "uk": "UA", "vi": "VN", "zh": "CN",
}  # fmt: skip
"""The likeliest country of a page in a language, where nothing else tells."""

US_STATES = {
    "Alabama": "AL", "Alaska": "AK", "Arizona": "AZ", "Arkansas": "AR", "California": "CA", "Colorado": "CO",
    "Connecticut": "CT", "Delaware": "DE", "District of Columbia": "DC", "Florida": "FL", "Georgia": "GA",
    "Hawaii": "HI", "Idaho": "ID", "Illinois": "IL", "Indiana": "IN", "Iowa": "IA", "Kansas": "KS",
    "Kentucky": "KY", "Louisiana": "LA", "Maine": "ME", "Maryland": "MD", "Massachusetts": "MA",
    "Michigan": "MI", "Minnesota": "MN", "Mississippi": "MS", "Missouri": "MO", "Montana": "MT",
    "Nebraska": "NE", "Nevada": "NV", "New Hampshire": "NH", "New Jersey": "NJ", "New Mexico": "NM",
    "New York": "NY", "North Carolina": "NC", "North Dakota": "ND", "Ohio": "OH", "Oklahoma": "OK",
    "Oregon": "OR", "Pennsylvania": "PA", "Puerto Rico": "PR", "Rhode Island": "RI", "South Carolina": "SC",
    "South Dakota": "SD", "Tennessee": "TN", "Texas": "TX", "Utah": "UT", "Vermont": "VT", "Virginia": "VA",
    "Washington": "WA", "West Virginia": "WV", "Wisconsin": "WI", "Wyoming": "WY",
}  # fmt: skip
CA_PROVINCES = {
    "Alberta": "AB", "British Columbia": "BC", "Manitoba": "MB", "New Brunswick": "NB",
    "Newfoundland and Labrador": "NL", "Nova Scotia": "NS", "Ontario": "ON", "Prince Edward Island": "PE",
    "Quebec": "QC", "Québec": "QC", "Saskatchewan": "SK", "Yukon": "YT",
}  # fmt: skip
AU_STATES = {
    "New South Wales": "NSW", "Victoria": "VIC", "Queensland": "QLD", "South Australia": "SA",
    "Western Australia": "WA", "Tasmania": "TAS", "Northern Territory": "NT", "Australian Capital Territory": "ACT",
}  # fmt: skip
BR_STATES = frozenset(
    "AC AL AP AM BA CE DF ES GO MA MT MS MG PA PB PR PE PI RJ RN RS RO RR SC SP SE TO".split()
)

STREET_WORDS: dict[str, tuple[str, str]] = {
    # language: words that stand alone, endings of compounds
    "en": ("street st streets sts avenue ave av avenues aves boulevard blvd road rd drive dr lane ln way court ct "
           "place pl plaza plz square sq highway hwy parkway pkwy pike turnpike tpke terrace ter trail trl circle cir "
           "alley crescent cres close row quay wharf broadway route rte freeway fwy expressway expy mews gardens grove "
           "esplanade parade sarani nagar marg mall walk causeway promenade loop center centre ctr crossing xing "
           "beltway sector campus village building bldg tower floor suite ste", ""),
    "de": ("am an im platz allee ring straße strasse str. gasse weg ufer damm markt",
           "straße strasse str. str weg platz gasse allee ring damm ufer markt hof "
           "chaussee steig graben berg zeile promenade"),
    "fr": ("rue avenue av. boulevard bd place chemin allée allee impasse quai route cours passage square faubourg", ""),
    "it": ("via viale piazza piazzale corso largo vicolo strada contrada lungomare", ""),
    "es": ("calle c/ avenida av. avda avda. plaza paseo carrera cra camino carretera calzada pasaje ronda glorieta "
           "bulevar blvd col. colonia", ""),
    "pt": ("rua avenida av. praça travessa alameda largo estrada rodovia loja", ""),
    "nl": ("", "straat weg laan plein kade gracht dijk singel dreef hof pad steeg"),
    "pl": ("ul. ul ulica al. aleja aleje pl. plac os. osiedle rondo", ""),
    "cs": ("ulice náměstí nám. třída nábřeží", "ova ská cká"),
    "sk": ("ulica námestie nám. trieda", "ova ská cká"),
    "sl": ("ulica cesta trg pot", ""),
    "hr": ("ulica cesta trg", ""),
    "hu": ("utca u. út tér körút", ""),
    "ro": ("strada str. bulevardul bd. calea piața șoseaua", ""),
    "sv": ("", "gatan vägen torget gränd"),
    "da": ("", "gade vej plads allé"),
    "no": ("", "gate gata vei veien plass"),
    "fi": ("", "katu tie kuja polku tori"),
    "tr": ("cad. cadde caddesi sok. sokak sokağı bulvarı mah. mahallesi", ""),
    "ru": ("ул. улица проспект пр. пр-т пер. переулок шоссе площадь пл. бульвар набережная", ""),
    "uk": ("вул. вулиця проспект просп. провулок площа бульвар", ""),
    "bg": ("бул. ул. жк", ""),
    "el": ("οδός οδ. λεωφόρος λεωφ. λ. πλατεία πλ.", ""),
    "et": ("mnt maantee tn tänav pst tee", ""),
    "lv": ("iela bulvāris prospekts gatve", ""),
    "lt": ("g. gatvė pr. prospektas", ""),
    "is": ("", "vegur gata stræti stígur braut"),
    "sr": ("bulevar bul. улица булевар трг", ""),
    "ms": ("jalan jln jln. jl jl. lorong persiaran", ""),
    "vi": ("đường phố quận", ""),
}  # fmt: skip

_WHOSE = "our|postal|street|mailing|office|business|company|unsere|notre|nuestra|nossa"
_ADDRESS = (
    "address|location|adresse|anschrift|ubicación|ubicacion|standort|postanschrift|sitz|dirección|direccion|domicilio|"
    "endereço|endereco|morada|indirizzo|sede|adres|adresa|naslov|cím|osoite|adress|адрес|адреса|διεύθυνση|住所|所在地|"
    "地址|주소"
)
ADDRESS_LABEL = re.compile(
    rf"^\W*(?:(?:{_WHOSE})\s+)?(?:{_ADDRESS})\s*(?:[(（][^()（）]{{1,12}}[)）]\s*)?(?:[:：.\-–]|$)",
    re.IGNORECASE,
)
"""The beginning of a line that says that an address follows."""

ADDRESS_STARTS = frozenset(map(fold, f"{_WHOSE}|{_ADDRESS}".split("|")))
"""The first words of such lines, folded: a set rules out nearly all lines in a tenth of the time."""

BOX_WORDS = (
    r"(?:p\.? ?o\.? ?box|post(?:al)? box|postfach|casilla|apartado|apdo|caixa postal|boîte postale|b\.?p\.?)"
)


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(set(words), key=lambda word: (-len(word), word)))


_STREETS = frozenset(word for words, _ in STREET_WORDS.values() for word in words.split())
_STREET_ENDINGS = tuple({ending for _, endings in STREET_WORDS.values() for ending in endings.split()})
_STREET_TOKENS = re.compile(r"\w+(?:-\w+)*(?:[./](?!\w))?")


def names_street(text: str) -> bool:
    """Return True if a text has a word that streets are called by, in any of the languages."""
    # a set of words is looked up twenty times as fast as a pattern of all of them is tried
    for token in _STREET_TOKENS.findall(text.lower()):
        bare = token.rstrip("./")
        if token in _STREETS or bare in _STREETS:
            return True
        if bare.endswith(_STREET_ENDINGS) and bare not in _STREET_ENDINGS:
            return True
        if "-" in bare and names_street(bare.replace("-", " ")):
            return True
    return False


_LANGUAGES_OF = {
    street: [language for language, (words, _) in STREET_WORDS.items() if street in words.split()]
    for street in _STREETS
}


def country_of_street(text: str, post_code: str) -> str:
    """Return the country whose language alone has a word for a street in a text, if its post codes look like this."""
    tokens = _STREET_TOKENS.findall(text.lower())
    languages = {_LANGUAGES_OF[token][0] for token in tokens if len(_LANGUAGES_OF.get(token, ())) == 1}
    country = LANGUAGE_COUNTRIES.get(languages.pop(), "") if len(languages) == 1 else ""
    return country if country and re.fullmatch(COUNTRIES[country].post_code, post_code) else ""


_BY_NAME = {fold(name): country.code for country in COUNTRIES.values() for name in country.names}
COUNTRY_NAME = re.compile(
    rf"(?<!\w)(?:{_alternatives(name for country in COUNTRIES.values() for name in country.names)})(?!\w)"
)


_FIRST_WORDS = frozenset(
    re.findall(r"\w+", name)[0] for country in COUNTRIES.values() for name in country.names
)
_WORDS = re.compile(r"\w+")
_SPACED = bytes(code if chr(code).isalnum() or chr(code) == "_" else 32 for code in range(128)).ljust(256)


@keep
def search_country(text: str) -> re.Match[str] | None:
    """Return the first name of a country in a text. A word of one is looked for first: to try all is slow."""
    # a table takes a quarter of the time of a pattern
    words = text.encode().translate(_SPACED).decode().split() if text.isascii() else _WORDS.findall(text)
    return None if _FIRST_WORDS.isdisjoint(words) else COUNTRY_NAME.search(text)


def country_named(name: str) -> str:
    """Return the code of a country by one of its names or its code; empty if there is none."""
    code = _BY_NAME.get(fold(name.strip()), "")
    return code or (name.strip().upper() if name.strip().upper() in COUNTRIES else "")


def country_of_host(host: str) -> str:
    """Return the country of a host's top-level domain; empty for generic ones."""
    ending = host.rsplit(".", 1)[-1].lower()
    if ending in _GENERIC:
        return ""
    return TOP_LEVEL.get(ending) or (ending.upper() if ending.upper() in COUNTRIES else "")


def country_of_path(url: str) -> str:
    """Return the country that a folder of a URL is named after, as in guides to the world; empty if there is none.

    Codes do not count: `/it/` is a language as often as a country. Nor do names that a state of the United States has.
    """
    return _country_of_folders(url.partition("://")[2].rpartition("/")[0])


@keep
def _country_of_folders(path: str) -> str:
    folders = path.split("/")[1:]
    names = (folder.replace("-", " ").replace("_", " ").title() for folder in folders if len(folder) > 3)
    return next((code for name in names if name not in US_STATES and (code := country_named(name))), "")


def country_of_language(language: str) -> str:
    """Return the country of a language tag: its region if it has one, else the likeliest; empty for English."""
    parts = language.replace("_", "-").split("-")
    region = parts[-1].upper() if len(parts) > 1 else ""
    return region if region in COUNTRIES else LANGUAGE_COUNTRIES.get(parts[0].lower(), "")
