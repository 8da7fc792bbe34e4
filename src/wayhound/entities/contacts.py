"""Phones, fax numbers, e-mail addresses, social profiles and registration numbers in the text of a page.

Phones are checked against the numbering plan of their country (the `phonenumbers` package); which country that is
follows from the site, its language and the addresses on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from wayhound.entities.kept import keep, keep_beside
from wayhound.entities.page_lines import PageLines
from wayhound.errors import MissingExtra

MAX_PHONES = 200
_LOCAL_DIGITS, _MOST_USUAL = 7, 12
_FALLBACK_REGIONS = ("US", "GB", "DE", "FR", "IN", "AU")
"""Tried for a number with a label where no hint fits; the page may be of an emigrant."""


class Contact(NamedTuple):
    """A phone, fax or e-mail: its field, its normal form, as printed, and its place in the text."""

    field: str
    text: str
    printed: str
    start: int
    end: int
    confidence: float
    country: str = ""


# E-mail

_LATIN = "A-Za-zÀ-ɏ0-9"  # not all letters: Japanese text goes on right after an address
_LOCAL_PART = re.compile(rf" ?([{_LATIN}_.+-]{{0,63}}[{_LATIN}])")  # backwards, from the sign
_HOST = re.compile(rf" ?(?:[{_LATIN}][{_LATIN}-]{{0,62}}\.){{1,5}}[A-Za-z]{{2,18}}(?![{_LATIN}_@-])")
_AT_WORD = "(?:at|ät|@|a|arroba|arobase|chez|kukac|zavináč|małpa|klammeraffe|chiocciola|apenstaartje)"
_AT = rf"(?: ?[\[({{<«‹#*] ?{_AT_WORD} ?[\])}}>»›#*] ?| -at- |(?-i: AT | at (?=\S+ dot )))"
_DOT = r"(?:\.| ?[\[({<«‹#*] ?(?:dot|punkt|point|punto|ponto|\.) ?[\])}>»›#*] ?| -dot- |(?-i: DOT | dot ))"
_PLAIN_AT = re.compile(
    rf"(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}{_DOT}){{1,5}}[A-Za-z]{{2,18}}(?![\w@-])", re.IGNORECASE
)
_DISGUISED = re.compile(
    rf"(?<![\w.+-])([A-Za-z0-9][\w.+-]{{0,63}}){_AT}((?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}{_DOT}){{1,5}}[A-Za-z]{{2,18}})"
    r"(?![\w@-])",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(rf"[\[({{<«‹#*] ?{_AT_WORD} ?[\])}}>»›#*]", re.IGNORECASE)
_BRACKETS = "[({<«‹#*"  # looked for one by one: a page has few, and a pattern of all is tried at every letter
_SPELLED = re.compile(" (?:AT|-at-) | at (?=[^ \n]+ dot )")
_REVERSED = re.compile(
    r"(?<![\w.])((?:moc|gro|ten|ofni|ed|rf|ti|se|ku|ln|hc|ta|lp|zc|ue|rb|ten)\.[\w.-]+@[\w.+-]+)(?![\w.@])"
)
_DOTS = re.compile(_DOT, re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+'-]+@[\w.-]+\.[^\W\d_]{2,18}")
_FILE_ENDINGS = frozenset("png jpg jpeg gif svg webp css js html htm php pdf".split())
_PLACEHOLDER = re.compile(
    r"@(?:example\.(?:com|org|net)|domain\.(?:com|tld)|email\.com|your[\w-]*\.|mysite\.|sentry)|^(?:your\w*|name|john\.?doe)@",
    re.IGNORECASE,
)


def find_emails(page: PageLines) -> Iterator[Contact]:
    """Yield the e-mail addresses in the text, also those written against robots: `(at)`, `[dot]`, backwards."""
    text = page.text if page.text.isascii() else page.text.replace("＠", "@")
    place = text.find("@")
    while place >= 0:
        # only the neighbourhood of each sign is searched: a page has few of them, and much text
        start = max(0, place - 66)
        host = _HOST.match(text, place + 1)
        name = _LOCAL_PART.match(text[start:place][::-1]) if host else None
        if name and host and (email := clean_email(f"{name[1][::-1]}@{host[0].strip()}")):
            begin = place - name.end()
            yield Contact("email", email, text[begin : host.end()], begin, host.end(), 0.97)
        elif (name := _LOCAL_PART.match(text[start:place][::-1])) and (
            host := _PLAIN_AT.match(text, place + 1)
        ):
            if email := clean_email(f"{name[1][::-1]}@{_DOTS.sub('.', host[0])}"):
                yield Contact(
                    "email", email, text[place - name.end() : host.end()], place - name.end(), host.end(), 0.9
                )
        elif (match := _REVERSED.search(text, start, place + 66)) and (email := clean_email(match[1][::-1])):
            yield Contact("email", email, match[0], *match.span(), confidence=0.85)
        place = text.find("@", place + 1)
    yield from _spelled_plainly(text)
    signs = [
        sign
        for bracket in _BRACKETS
        for place in _places(text, bracket)
        if (sign := _IN_BRACKETS.match(text, place)) is not None
    ]
    if " AT " in text or "-at-" in text or " dot " in text:
        signs += _SPELLED.finditer(text)
    for sign in signs:
        match = _DISGUISED.search(text, max(0, sign.start() - 66), sign.end() + 200)
        if match is None or not match.start() < sign.start() < sign.end() < match.end():
            continue
        if email := clean_email(f"{match[1]}@{_DOTS.sub('.', match[2])}"):
            yield Contact("email", email, match[0], *match.span(), confidence=0.93)


def _places(text: str, sign: str) -> Iterator[int]:
    place = text.find(sign)
    while place >= 0:
        yield place
        place = text.find(sign, place + 1)


def _spelled_plainly(text: str) -> Iterator[Contact]:
    """Yield addresses such as `info at acme.org`, where the first word is an office or a label comes before it."""
    place = text.find(" at ")
    while place >= 0:
        host = _HOST.match(text, place + 3)
        name = _LOCAL_PART.match(text[max(0, place - 64) : place][::-1]) if host else None
        if host and name:
            local, start = name[1][::-1], place - name.end()
            if local.lower() in _ROLES or _MAIL_LABEL.search(text[max(0, start - 24) : start]):
                email = clean_email(f"{local}@{host[0].strip()}")
                if email:
                    yield Contact("email", email, text[start : host.end()], start, host.end(), 0.8)
        place = text.find(" at ", place + 1)


_MAIL_LABEL = re.compile(r"(?:\be-?mail|\bmail|✉)(?: address)?\s*[:：]\s*$", re.IGNORECASE)


def clean_email(text: str) -> str:
    """Return an e-mail address in normal form; empty if it is none, or only stands for one."""
    text = unquote(text.strip().partition("?")[0]).strip().strip(".,;:<>()\"'").lower()
    name, at, host = text.rpartition("@")
    ending = host.rsplit(".", 1)[-1]
    good = at and name and "." in host and _EMAIL.fullmatch(text)
    if not good or ending in _FILE_ENDINGS or len(text) > 120 or ".." in text:
        return ""
    return text


def is_placeholder(email: str) -> bool:
    """Return True for addresses that templates come with."""
    return bool(_PLACEHOLDER.search(email))


_ROLES = frozenset(
    "info contact kontakt mail email office service support sales hello hi team press jobs admin post webmaster help "
    "secretary secretaria contacto contato werken karriere datenschutz privacy shop order booking reservation vorstand "
    "accueil bureau buero biuro sekretariat marketing news redaktion".split()
)
_PERSONAL = re.compile(r"[a-z]{2,}[._-][a-z]{2,}|[a-z][._-][a-z]{3,}")
_FREE_HOSTS = frozenset(
    "gmail.com googlemail.com gmx.de gmx.net gmx.at web.de hotmail.com hotmail.fr outlook.com yahoo.com yahoo.fr "
    "aol.com t-online.de orange.fr free.fr icloud.com mail.ru seznam.cz wp.pl libero.it".split()
)


def is_personal(email: str) -> bool:
    """Return True for an address with a name before the sign: `anna.berg@…`, and not `info@…`."""
    local = email.partition("@")[0].lower()
    return (
        local not in _ROLES
        and not set(re.split(r"[._-]", local)) & _ROLES
        and bool(_PERSONAL.fullmatch(local))
    )


def is_of_a_person(email: str) -> bool:
    """Return True for an address that is likely a person's: by its name, or at a host where anybody gets one."""
    local, _, host = email.lower().partition("@")
    return is_personal(email) or (host in _FREE_HOSTS and local not in _ROLES)


def decode_protected(code: str) -> str:
    """Return the e-mail address of Cloudflare's `data-cfemail`; empty if the code is damaged."""
    try:
        data = bytes.fromhex(code)
    except ValueError:
        return ""
    return clean_email(bytes(byte ^ data[0] for byte in data[1:]).decode("utf-8", "replace")) if data else ""


# Phone

_CANDIDATE = re.compile(
    r"(?<![\w.,/=#&?%@$€£-])(?:\(?\+ ?\(?|00 ?)?\(?\d(?:[ \u00a0().\-/–‐‑−·－（）\u2009]{0,3}\d){6,16}"
    r"(?![^\W\u3000-\u9fff]|[%€$£]|[.,:/-]\d)"
)
_VANITY = re.compile(
    r"(?<![\w-])(?:1[-. ])?\(?8(?:00|33|44|55|66|77|88)\)?[-. ](?=[\dA-Z-]*[A-Z]{3})"
    r"[\dA-Z](?:-?[\dA-Z]){6,8}(?!\w)"
)
_TOLL_FREE = re.compile(r"8[0345678]{2}\)?[-. ][\dA-Z-]*[A-Z]{3}")
_NORTH_AMERICAN = frozenset({"US", "CA"})
_TEN_DIGITS = re.compile(r"(?:1[-. ])?\(?([2-9]\d\d)\)?[-. /]{0,2}(\d{3})[-. ]?(\d{4})")
_GROUPS = re.compile(r"\d[ ().\-/–‐]+\d")
_SEVEN = re.compile(r"\d(?:\D{0,3}\d){6}")
# Labels are matched in lower case: to ignore case takes three times as long.
_LABEL = re.compile(
    r"(?:\btfn?o?\b|\btlfn?\b|"
    r"tel(?:\b|[.:é]|e[fp]|éf)|t[eé]l[eé]ph|phone|\bfon\b|\bcall\b|mob(?:il|\b|\.)|cell|hotline|whats ?app|"
    r"☎|✆|📞|📱|\bt:|\bt\.|\bp:|\bph\b|\bm:|telefone|celular|móvil|movil|contact us|dial|ring us|gsm|kontakt|"
    r"電話|电话|전화|тел|τηλ|reserv|puh\b|handy|zadzwoń|ligue|llám)[^\d+(]{0,24}$",
)
_FAX = re.compile(r"(?:fax|telefax|faks|ファックス|传真|факс|φαξ)[^\d+(]{0,16}$|\bf:\W*$")
_NOT_PHONE = re.compile(
    r"(?:isbn|issn|iban|bic|ust|vat|uid|tax|hrb|nip|regon|krs|cnpj|cpf|rut|siret|siren|kvk|btw|abn|acn|gst|pan|id|no|nr|"
    r"account|konto|steuer|p\.? ?iva|c\.?f\.?|ič|dič|order|invoice|copyright|©|\$|€|£|version|doi|zip|plz|cep|code|lat|"
    r"lng|lon|#)[^\w(+]{0,4}$",
)
_BANK = re.compile(r"\b(?:blz|bankleitzahl|kto|konto|iban|bic|swift|bank|sort code|bankverbindung)\b")
_DATE = re.compile(
    r"(?:19|20)\d\d ?[-–/.] ?(?:(?:19|20)\d\d|[01]?\d ?[-–/.] ?[0-3]?\d)|"
    r"[0-3]?\d[-/.][01]?\d[-/.](?:19|20)?\d\d(?:\D.*)?"
)


def find_phones(page: PageLines, regions: Sequence[str]) -> Iterator[Contact]:
    """Yield the phone and fax numbers in the text. `regions` are the likeliest countries, likeliest first."""
    text = page.text
    for place, candidate in islice(_phone_candidates(page), MAX_PHONES):
        start, printed = place, candidate
        before = text[max(0, start - 40) : start]
        line_start = before.rfind("\n")
        same_line, above = before[line_start + 1 :], before[: max(0, line_start)].rsplit("\n", 1)[-1]
        label = same_line if same_line.strip(" :") else above
        is_labelled, is_fax = _label_kind(label)
        if _DATE.fullmatch(printed) or "\n" in printed:
            continue
        if not is_labelled and _names_another_number(same_line, above[-20:]):
            continue
        contact = None
        for skipped, part in _readings(candidate):
            if contact := _checked(part, regions, labelled=is_fax or is_labelled):
                start, printed = place + skipped, part
                break
        if contact is None and is_labelled and len(printed) >= _LOCAL_DIGITS:
            contact = printed, "", 0.62  # a local number, which no plan knows without its area
        if contact is not None:
            normal, country, sure = contact
            yield Contact(
                "fax" if is_fax else "phone",
                normal,
                printed,
                start,
                start + len(printed),
                confidence=sure,
                country=country,
            )


def _readings(candidate: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers that digits with few signs between may be, likeliest first, and where each begins in them."""
    first, slash, _ = candidate.partition(" / ")
    if slash:
        yield 0, first  # "0771 - 2443238 / 28" is two numbers, "0711 / 24432" is one
    yield 0, candidate
    if (
        sum(map(str.isdigit, candidate)) > _MOST_USUAL
    ):  # "FL 33139 (305) 531-1234": a post code before or after it
        head, _, tail = candidate.partition(" ")
        yield len(head) + 1, tail
        yield 0, candidate.rpartition(" ")[0]


@keep
def _label_kind(label: str) -> tuple[bool, bool]:
    """Return whether a text says that a phone number follows, and whether it says so of a fax."""
    lowered = label.lower()
    is_labelled = _LABEL.search(lowered) is not None
    return is_labelled, not is_labelled and _FAX.search(lowered) is not None  # "Phone/Fax:" is a phone


@keep_beside
def _names_another_number(same_line: str, above: str) -> bool:
    """Return True if the text before a number says that it is that of an account, a book or a register."""
    before = same_line.lower()
    return bool(_NOT_PHONE.search(before) or _BANK.search(before) or _BANK.search(above.lower()))


def _phone_candidates(page: PageLines) -> Iterator[tuple[int, str]]:
    for index in page.digit_lines:
        for start, printed in _line_candidates(page.lines[index]):
            yield page.starts[index] + start, printed


@keep
def _line_candidates(line: str) -> tuple[tuple[int, str], ...]:
    """Return the parts of a line that may be phone numbers, and where they begin."""
    vanity = (
        tuple((match.start(), match[0]) for match in _VANITY.finditer(line))
        if _TOLL_FREE.search(line)
        else ()
    )
    if not _SEVEN.search(line):
        return vanity
    return tuple((match.start(), match[0].strip()) for match in _CANDIDATE.finditer(line)) + vanity


def _checked(printed: str, regions: Sequence[str], *, labelled: bool) -> tuple[str, str, float] | None:
    """Return the number in international form, its country and the confidence; None if no plan has it."""
    international = printed.lstrip("(").startswith(("+", "00"))
    if international:
        return _in_plan(printed, "", 0.97 if labelled else 0.93)
    digits = sum(map(str.isdigit, printed))
    grouped = _GROUPS.search(printed) is not None
    for rank, region in enumerate(regions):
        if found := _in_plan(
            printed, region, (0.96 if labelled else 0.85 if grouped else 0.4) - 0.05 * min(rank, 4)
        ):
            return found
    if labelled and digits >= 8:
        for region in _FALLBACK_REGIONS:
            if region not in regions and (found := _in_plan(printed, region, 0.55)):
                return found
    return None


def _in_plan(printed: str, region: str, confidence: float) -> tuple[str, str, float] | None:
    parsed = normal_phone(printed, region)
    return (*parsed, confidence) if parsed else None


def _first_digits(vanity: str) -> str:
    """Return a number in letters without those that are dialled in vain: 1-800-CONTACTS has one too many."""
    kept, wanted = "", 11 if vanity.startswith("1") else 10
    for sign in vanity:
        kept += sign if sum(map(str.isalnum, kept)) < wanted else ""
    return kept


@lru_cache(maxsize=50_000)
def normal_phone(printed: str, region: str = "") -> tuple[str, str] | None:
    """Return a number in E.164 and its country; None if the numbering plan does not have it.

    Raises MissingExtra without the package `phonenumbers`.
    """
    phonenumbers = _phonenumbers()
    text = printed.replace("(0)", " ").lstrip("(")
    if text[-1:].isupper() and (vanity := _VANITY.fullmatch(text)):
        text = _first_digits(vanity[0])
    if text.startswith("+ "):
        text = "+" + text[1:].lstrip()
    if text.startswith("00"):
        text = "+" + text[2:].lstrip()
    if not region and "+" not in text and "＋" not in text:
        return None  # of any country, which the library finds out after it has cleaned the text
    if region in _NORTH_AMERICAN and (parts := _TEN_DIGITS.fullmatch(text)):
        # the library takes nearly all its time to find out what this shape says
        national = "".join(parts.groups())
        if _american_lines().fullmatch(national):
            return f"+1{national}", "US"
        number = phonenumbers.PhoneNumber(country_code=1, national_number=int(national))
    else:
        try:
            number = phonenumbers.parse(text, region or None)
        except phonenumbers.NumberParseException:
            return None
    country = phonenumbers.region_code_for_number(number)  # `is_valid_number` would look for it once more
    if country is None or not phonenumbers.is_valid_number_for_region(number, country):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164), country


@lru_cache(maxsize=1)
def _american_lines() -> re.Pattern[str]:
    """Return what the numbers of the United States look like, which come first of all countries with their code."""
    return re.compile(
        _phonenumbers().PhoneMetadata.metadata_for_region("US").fixed_line.national_number_pattern
    )


@lru_cache(maxsize=1)
def _phonenumbers() -> Any:
    try:
        import phonenumbers  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise MissingExtra("Reading phone numbers", "phonenumbers", "facts") from None
    return phonenumbers


# Social profiles and registration numbers

_NETWORK = re.compile(
    rb"://(?:[\w-]+\.)?(?:(?:facebook|instagram|linkedin|twitter|youtube|tiktok|pinterest|github|xing|vk)\.com/|t\.me/|"
    rb"mastodon\.|bsky\.app/)|://x\.com/"
)
_SOCIAL = re.compile(
    r"https?://(?:[\w-]+\.)?((?:facebook|instagram|linkedin|twitter|youtube|tiktok|pinterest|github|xing|vk)\.com|x\.com|"
    r"t\.me|mastodon\.\w+|bsky\.app)/[^\s\"'<>]+",
    re.IGNORECASE,
)
_MAX_PROFILE_CHARS = 500
_SHARE = re.compile(
    r"/(?:sharer?|share\.php|share|intent|dialog|plugins|tr|hashtag|search|home|login|privacy|policies|p|embed|watch|"
    r"sharing|shareArticle|pin/create)(?:[/?#.]|$)",
    re.IGNORECASE,
)
_VAT = re.compile(
    r"(?:VAT|USt\.?-?Id(?:Nr)?\.?|UID|TVA|IVA|BTW|NIF|CIF|P\. ?IVA|Partita IVA|DIČ|NIP|CVR|ABN|CNPJ|GSTIN?|KvK)"
    r"(?:[ -]?(?:No|Nr|number|nummer|intracommunautaire|ID|registration)\b)?\.?[^\w]{0,4}"
    r"((?:[A-Z]{2} ?)?[\dA-Z][\d.\-/ ]{5,18}[\dA-Z]{1,4})(?!\w)"
)
_REGISTER = re.compile(
    r"\b(HR[AB] ?\d{2,7}(?: ?[A-Z]\b)?|(?:SIRET|SIREN|KRS|REGON|IČO?|RCS [A-Z][a-z]+)[^\w]{0,4}\d[\d ]{6,17}\d)"
)


_REGISTERS = re.compile(
    "VAT|USt|UID|TVA|IVA|BTW|NIF|CIF|DIČ|NIP|CVR|ABN|CNPJ|GST|KvK|HR[BA]|SIRE|KRS|REGON|IČ|RCS"
)


def profile_urls(source: bytes) -> list[str]:
    """Return the addresses of profiles on social networks that markup in UTF-8 links to, each once."""
    found: dict[str, None] = {}
    for match in _NETWORK.finditer(source):
        # from the name of the network backwards: the search for a literal beginning is fast
        start = source.rfind(b"http", max(0, match.start() - 5), match.start())
        if start >= 0:
            rest = source[start : start + _MAX_PROFILE_CHARS].decode("utf-8", "ignore")
            if (whole := _SOCIAL.match(rest)) and is_profile(whole[0]):
                found[whole[0]] = None
    return list(found)


@keep
def is_profile(url: str) -> bool:
    """Return True for a page of an organisation or a person on a social network, and not a button to share."""
    if not _SOCIAL.match(url) or _SHARE.search(url):
        return False
    return len(urlsplit(url).path.strip("/")) > 1


def find_registrations(page: PageLines) -> Iterator[Contact]:
    """Yield VAT and register numbers, which are printed after their names."""
    seen = 0
    for index in page.digit_lines:
        first = index - 1 if index and _names_register(page.lines[index - 1]) else index
        if first == index and not _names_register(page.lines[index]):
            continue
        start, end = max(seen, page.starts[first]), page.starts[index] + len(page.lines[index])
        for pattern, sure in ((_VAT, 0.85), (_REGISTER, 0.9)):
            for match in pattern.finditer(page.text, start, end):
                value = " ".join(match[1].split())
                if sum(map(str.isdigit, value)) >= 4 and "\n" not in match[1]:
                    yield Contact("registration", value, match[1], *match.span(1), confidence=sure)
        seen = end


@keep
def _names_register(line: str) -> bool:
    return _REGISTERS.search(line) is not None
