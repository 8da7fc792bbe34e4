"""Facts of pages, nothing taught: contacts, addresses of many countries, names, hours."""

from __future__ import annotations

import json
import tracemalloc

import phonenumbers
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.entities.addresses import find_addresses
from wayhound.entities.contacts import decode_protected, find_emails, find_phones, normal_phone
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, settle
from wayhound.entities.fact import calibrated
from wayhound.entities.hours import normalise_hours
from wayhound.entities.kept import MAX_KEPT, MAX_KEPT_CHARS, keep
from wayhound.entities.names import TitleShape, organisation_name
from wayhound.entities.page_lines import PageLines, parse_html
from wayhound.record_kinds import KINDS


def lines_of(html: str, url: str = "https://acme.example/contact") -> PageLines:
    return parse_html(url, html).lines()


def facts_of(html: str, url: str = "https://acme.example/contact") -> FactPage:
    return read_facts(url, html.encode(), "text/html; charset=utf-8")


def texts(page: FactPage, field: str) -> list[str]:
    return [fact.text for fact in page.of(field)]


def test_every_value_has_its_span_in_the_visible_text() -> None:
    page = facts_of(
        "<p>Call <b>+44 20 7946 0958</b> or write to <a>info@acme.co.uk</a></p><footer>10115 Berlin</footer>"
    )
    printed = {fact.field: page.lines.text[fact.start : fact.end] for fact in page.facts}
    assert printed["phone"] == "+44 20 7946 0958"
    assert printed["email"] == "info@acme.co.uk"


@pytest.mark.parametrize(
    ("text", "email"),
    [
        ("info@acme.example.org", "info@acme.example.org"),
        ("info (at) acme (dot) org", "info@acme.org"),
        ("team[at]akamu.de", "team@akamu.de"),
        ("Info&#64;Acme.ORG", "info@acme.org"),
        ("gro.emca@ofni", "info@acme.org"),
        ("info at acme dot org", "info@acme.org"),
        ("Write to info at acme.org", "info@acme.org"),
        ("E-mail: anna.berg at acme.org", "anna.berg@acme.org"),
        ("info -at- acme -dot- org", "info@acme.org"),
        ("info@acme(dot)org", "info@acme.org"),
        ("info«at»acme.org", "info@acme.org"),
        ("info ‹at› acme.org", "info@acme.org"),
        ("contact (arobase) acme.org", "contact@acme.org"),
        ("info (Klammeraffe) acme.org", "info@acme.org"),
        ("info＠acme.org", "info@acme.org"),
        ("info@müller.de", "info@müller.de"),
        ("メールinfo@acme.jpまで", "info@acme.jp"),
        ("info<span style='display:none'>nospam</span>@acme.org", "info@acme.org"),
        ("info<img src=at.gif alt='@'>acme.org", "info@acme.org"),
        ("info@<wbr>acme.org", "info@acme.org"),
    ],
)
def test_emails_are_read_also_where_they_are_disguised(text: str, email: str) -> None:
    assert [contact.text for contact in find_emails(lines_of(f"<p>Mail: {text}</p>"))] == [email]


@pytest.mark.parametrize(
    "link",
    [
        "mailto:Info@Acme.org;other@acme.org",
        "mailto:Acme <info@acme.org>?subject=Hello",
        " mailto:info@acme.org",
        "&#109;&#97;&#105;&#108;&#116;&#111;&#58;info&#64;acme.org",
    ],
)
def test_the_address_of_a_link_is_read_in_every_spelling(link: str) -> None:
    assert texts(facts_of(f'<a href="{link}">Write to us</a>'), "email")[0] == "info@acme.org"


def test_words_of_elements_side_by_side_are_parted_and_an_email_in_pieces_is_not() -> None:
    page = facts_of(
        "<p><span>12 Ocean Drive</span><span class=c>Miami Beach, FL 33139</span></p>"
        "<p><span>in</span><span>fo</span><span>@</span><span>acme</span><span>.org</span></p>"
    )
    assert texts(page, "address") == ["12 Ocean Drive Miami Beach, FL 33139"]
    assert texts(page, "email") == ["info@acme.org"]


def test_an_email_that_cloudflare_protects_is_decoded() -> None:
    code = "2a" + "".join(f"{ord(letter) ^ 0x2A:02x}" for letter in "me@acme.org")
    assert decode_protected(code) == "me@acme.org"
    assert texts(facts_of(f'<a data-cfemail="{code}">[protected]</a>'), "email") == ["me@acme.org"]
    assert decode_protected("zz") == ""


@pytest.mark.parametrize(
    "element",
    [
        '<span data-user="info" data-domain="acme.org"></span>',
        '<a href="#" data-name="info" data-host="acme" data-tld="org">Mail</a>',
        '<a data-email="info@acme.org">Mail</a>',
        '<a data-mail="gro.emca@ofni">Mail</a>',
        '<a data-mail="aW5mb0BhY21lLm9yZw==">Mail</a>',
    ],
)
def test_an_email_that_a_script_would_put_together_is_read(element: str) -> None:
    assert texts(facts_of(f"<p>{element}</p>"), "email") == ["info@acme.org"]


def test_attributes_without_an_email_are_passed_over() -> None:
    page = facts_of('<p data-domain="acme.org">Acme</p><a data-email="true" data-mail="%%%">Sign up</a>')
    assert texts(page, "email") == []


def test_a_sentence_with_the_word_at_is_no_email() -> None:
    assert list(find_emails(lines_of("<p>Meet us at home. Look at acme.org (a story)</p>"))) == []


def test_the_country_of_a_phone_follows_from_the_page() -> None:
    german = lines_of("<p>Tel. 030 901820</p>")
    assert [(c.text, c.country) for c in find_phones(german, ["DE"])] == [("+4930901820", "DE")]


@pytest.mark.parametrize(
    ("folder", "number"),
    [("europe/france/paris", "+33142601234"), ("usa/georgia/atlanta", None), ("fr", None)],
)
def test_a_folder_named_after_a_country_tells_the_country_of_a_phone(folder: str, number: str | None) -> None:
    page = facts_of("<p>Phone: 01-42-60-12-34</p>", f"https://guide.example.com/{folder}/12.html")
    assert (number in texts(page, "phone")) is (number is not None)


@pytest.mark.parametrize(
    ("country", "text", "number"),
    [
        ("US", "Call 1-800-FLOWERS today", "+18003569377"),
        ("US", "212.555.0187 ext. 12", "+12125550187"),
        ("US", "Miami Beach, FL 33139 (305) 531-1234", "+13055311234"),
        ("US", "305-531-1234 33139 Miami Beach", "+13055311234"),
        ("ES", "Tfno. 91 521 23 45", "+34915212345"),
        ("JP", "電話：０３－３２１１－１２３４", "+81332111234"),
        ("BE", "02/512.34.56", "+3225123456"),
        ("RU", "8 (495) 123-45-67", "+74951234567"),
    ],
)
def test_phones_are_read_as_each_country_prints_them(country: str, text: str, number: str) -> None:
    assert [contact.text for contact in find_phones(lines_of(f"<p>{text}</p>"), [country])] == [number]


@pytest.mark.parametrize(
    "text", ["(212) 366-1182", "212.366.1182", "1-212-366-1182", "2123661182", "(555) 366-1182"]
)
def test_the_short_way_for_american_numbers_agrees_with_the_library(text: str) -> None:
    parsed = phonenumbers.parse(text, "US")
    is_valid = phonenumbers.is_valid_number(parsed)
    expected = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164) if is_valid else None
    assert (normal_phone(text, "US") or (None,))[0] == expected


def test_a_fax_number_is_not_a_phone() -> None:
    found = [
        (c.field, c.text) for c in find_phones(lines_of("<p>Tel: 030 901820<br>Fax: 030 901821</p>"), ["DE"])
    ]
    assert found == [("phone", "+4930901820"), ("fax", "+4930901821")]


def test_dates_accounts_and_prices_are_no_phones() -> None:
    text = (
        "<p>1999-2004<br>12.05.2024<br>IBAN DE02 1203 0000 0000 2020 51<br>Kto 7048748<br>$ 1 250 000 00</p>"
    )
    assert list(find_phones(lines_of(text), ["DE", "US"])) == []


@pytest.mark.parametrize(
    ("country", "html", "address"),
    [
        (
            "US",
            "1219 Filbert Street<br>Philadelphia, PA 19107",
            "1219 Filbert Street, Philadelphia, PA 19107",
        ),
        ("GB", "10 Downing Street<br>London SW1A 2AA", "10 Downing Street, London SW1A 2AA"),
        ("DE", "Karolinenplatz 5<br>64289 Darmstadt", "Karolinenplatz 5, 64289 Darmstadt"),
        ("FR", "81 rue de Lille<br>75007 Paris", "81 rue de Lille, 75007 Paris"),
        ("NL", "Kampenringweg 45A<br>2803PE Gouda", "Kampenringweg 45A, 2803PE Gouda"),
        (
            "AU",
            "Unit 6/38 Wannan St<br>Highett VIC 3190<br>Australia",
            "Unit 6/38 Wannan St, Highett VIC 3190, Australia",
        ),
        ("JP", "〒100-0001 東京都千代田区千代田1-1", "〒100-0001 東京都千代田区千代田1-1"),
        ("IN", "45 Shakespeare Sarani,<br>Kolkata – 700017", "45 Shakespeare Sarani, Kolkata – 700017"),
        ("SI", "Podbreznik 15<br>8000 Novo mesto", "Podbreznik 15, 8000 Novo mesto"),
        ("PL", "ul. Piękna 3<br>00-539 Warszawa", "ul. Piękna 3, 00-539 Warszawa"),
        ("CA", "290 Bremner Blvd<br>Toronto, ON M5V 3L9", "290 Bremner Blvd, Toronto, ON M5V 3L9"),
        ("IT", "Via Marino Moretti, 23<br>47921 Rimini", "Via Marino Moretti, 23, 47921 Rimini"),
        ("US", "One Main Plaza<br>Redmond, WA 98052-6399", "One Main Plaza, Redmond, WA 98052-6399"),
        (
            "GB",
            "Unit 4, Mill Estate<br>Mill Lane<br>Leeds<br>LS10 1AB",
            "Unit 4, Mill Estate, Mill Lane, Leeds, LS10 1AB",
        ),
        (
            "IE",
            "12 Merrion Square, Dublin 2, D02 XY45, Ireland",
            "12 Merrion Square, Dublin 2, D02 XY45, Ireland",
        ),
        (
            "NZ",
            "45 Queen Street<br>Auckland 1010<br>New Zealand",
            "45 Queen Street, Auckland 1010, New Zealand",
        ),
        ("AT", "Mariahilfer Straße 45/2/12<br>1060 Wien", "Mariahilfer Straße 45/2/12, 1060 Wien"),
        ("AR", "Av. Corrientes 1234, C1043AAZ Buenos Aires", "Av. Corrientes 1234, C1043AAZ Buenos Aires"),
        (
            "CL",
            "Av. Providencia 1760, Of. 3, Santiago, Chile",
            "Av. Providencia 1760, Of. 3, Santiago, Chile",
        ),
        ("HU", "1051 Budapest, Nádor utca 7.", "1051 Budapest, Nádor utca 7."),
        ("GR", "Ερμού 25, 105 63 Αθήνα", "Ερμού 25, 105 63 Αθήνα"),
        ("UA", "вул. Хрещатик, 22, м. Київ, 01001", "вул. Хрещатик, 22, м. Київ, 01001"),
        ("TR", "Büyükdere Cad. No:185, 34394 İstanbul", "Büyükdere Cad. No:185, 34394 İstanbul"),
        ("SG", "10 Anson Road #12-34, Singapore 079903", "10 Anson Road #12-34, Singapore 079903"),
        ("KR", "서울특별시 강남구 테헤란로 152", "서울특별시 강남구 테헤란로 152"),
        ("TW", "台北市信義區信義路五段7號", "台北市信義區信義路五段7號"),
        ("IS", "Laugavegur 26, 101 Reykjavík", "Laugavegur 26, 101 Reykjavík"),
        (
            "HK",
            "Unit 2, 18 Harcourt Road, Central, Hong Kong",
            "Unit 2, 18 Harcourt Road, Central, Hong Kong",
        ),
    ],
)
def test_addresses_of_many_countries_are_read(country: str, html: str, address: str) -> None:
    found = find_addresses(lines_of(f"<h1>Acme</h1><p>{html}</p><p>Copyright 2024</p>"), [country])
    assert [(one.text, one.country) for one in found[:1]] == [(address, country)]


@pytest.mark.parametrize(
    ("country", "html", "address"),
    [
        ("US", "12 Main Street<br>Springfield<br>IL<br>62701", "12 Main Street, Springfield IL 62701"),
        ("US", "12 Main Street<br>Springfield<br>IL 62701", "12 Main Street, Springfield IL 62701"),
        ("US", "12 Main Street<br>Springfield, IL<br>62701", "12 Main Street, Springfield, IL 62701"),
        ("US", "12 Main Street<br>Springfield, IL", "12 Main Street, Springfield, IL"),
        ("US", "12 Main St. | Springfield | IL 62701", "12 Main St., Springfield, IL 62701"),
        ("US", "12 Main Street - Springfield - IL - 62701", "12 Main Street - Springfield - IL - 62701"),
        ("US", "Springfield, IL 62701, 12 Main Street", "Springfield, IL 62701, 12 Main Street"),
        ("US", "Main St. at 5th Ave.<br>Springfield, IL", "Main St. at 5th Ave., Springfield, IL"),
        (
            "US",
            "<table><tr><td>Street<td>12 Main Street<tr><td>City<td>Springfield<tr><td>State<td>IL<tr><td>Zip<td>62701",
            "12 Main Street, Springfield, IL 62701",
        ),
        ("DE", "Hauptstr. 5<br>10115<br>Berlin", "Hauptstr. 5, 10115 Berlin"),
        ("DE", "Straße: Hauptstr. 5<br>PLZ: 10115<br>Ort: Berlin", "Hauptstr. 5, 10115 Berlin"),
        ("DE", "10115 Berlin, Hauptstr. 5", "10115 Berlin, Hauptstr. 5"),
        ("PL", "00-950 Warszawa, ul. Piękna 10", "00-950 Warszawa, ul. Piękna 10"),
        ("RU", "г. Москва, ул. Тверская, д. 12, 125009", "г. Москва, ул. Тверская, д. 12, 125009"),
        ("KE", "2nd Floor, Westlands Road, Nairobi, Kenya", "2nd Floor, Westlands Road, Nairobi, Kenya"),
    ],
)
def test_the_parts_of_an_address_are_read_in_other_orders_and_on_lines_of_their_own(
    country: str, html: str, address: str
) -> None:
    page = lines_of(f"<h1>Acme</h1><p>{html}</p>")
    found = find_addresses(page, [country])
    assert [place.text for place in found] == [address]
    assert all(0 < place.start < place.end <= len(page.text) for place in found)


def test_the_country_at_the_end_of_an_address_decides_whatever_its_code_looks_like() -> None:
    page = facts_of(
        "<p>Av. Juárez 12, Cancún 77500, Mexico</p><p>998 884 1234</p>", "https://guide.example.com/"
    )
    assert [(fact.field, fact.country) for fact in page.facts] == [("phone", "MX"), ("address", "MX")]


def test_a_street_without_a_city_counts_beside_a_phone_number_and_nowhere_else() -> None:
    street = "<h1>Joe</h1><p>12 Main St. (5th Ave.)</p>"
    beside = find_addresses(lines_of(f"{street}<p>212-366-1182</p>"), ["US"])
    assert [address.text for address in beside] == ["12 Main St. (5th Ave.)"]
    assert find_addresses(lines_of(street), ["US"]) == []


@pytest.mark.parametrize("street", ["12 Main St. (5th Ave.)", "24th & M Streets NW, Springfield, IL"])
def test_a_street_beside_a_phone_number_may_have_a_label(street: str) -> None:
    page = lines_of(f"<h1>Joe</h1><p>Where: {street}</p><p>Call: 212-366-1182</p>")
    found = find_addresses(page, ["US"])
    assert [(address.text, page.text[address.start : address.end]) for address in found] == [(street, street)]


@pytest.mark.parametrize(
    ("html", "phone", "country"),
    [
        ("Via dei Vascellari, 29<br>00153 Roma<br>Tel: 06 581 2260", "+39065812260", "IT"),
        ("81 rue de Lille, 75007 Paris<br>01 87 44 69 96", "+33187446996", "FR"),
        ("Hauptstraße 5, 10115 Berlin<br>Tel. 030 901820", "+4930901820", "DE"),
    ],
)
def test_the_word_for_a_street_tells_the_country_where_nothing_else_does(
    html: str, phone: str, country: str
) -> None:
    page = facts_of(f"<h1>Acme</h1><p>{html}", "https://guide.example.com/")
    assert texts(page, "phone") == [phone]
    assert [fact.country for fact in page.of("address")] == [country]


def test_a_country_of_the_site_is_not_overruled_by_a_word_for_a_street() -> None:
    page = facts_of("<p>Rue du Marché 3, 10115 Berlin</p>", "https://acme.de/")
    assert [fact.country for fact in page.of("address")] == ["DE"]


def test_what_a_page_states_for_machines_is_read_in_every_syntax() -> None:
    data = {
        "@type": "Restaurant", "name": "Chez Nous", "telephone": "+33 1 42 68 53 00",
        "geo": {"latitude": 48.8, "longitude": 2.3},
        "address": {"streetAddress": "1 rue X", "postalCode": "75001", "addressLocality": "Paris"},
        "openingHoursSpecification": {"dayOfWeek": ["Monday", "Tuesday"], "opens": "09:00", "closes": "18:00"},
    }  # fmt: skip
    json_ld = facts_of(f'<script type="application/ld+json">{json.dumps(data)}</script>')
    microdata = facts_of(
        '<div itemscope itemtype="http://schema.org/Restaurant"><h1 itemprop="name">Chez Nous</h1>'
        '<span itemprop="telephone">+33 1 42 68 53 00</span><div itemprop="address" itemscope '
        'itemtype="http://schema.org/PostalAddress"><span itemprop="streetAddress">1 rue X</span>'
        '<span itemprop="postalCode">75001</span><span itemprop="addressLocality">Paris</span></div></div>'
    )
    hcard = facts_of(
        '<div class="vcard"><b class="fn org">Chez Nous</b><i class="tel">+33 1 42 68 53 00</i><p class="adr">'
        '<i class="street-address">1 rue X</i> <i class="postal-code">75001</i> <i class="locality">Paris</i></p></div>'
    )
    for page in (json_ld, microdata, hcard):
        assert texts(page, "name")[0] == "Chez Nous"
        assert texts(page, "phone") == ["+33142685300"]
        assert texts(page, "address")[0].startswith("1 rue X, 75001 Paris")
    assert texts(json_ld, "coordinates") == ["48.8,2.3"]
    assert texts(json_ld, "hours") == ["Mo-Tu 09:00-18:00"]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("Monday - Thursday: 4:30pm - 10:00pm", "Mo-Th 16:30-22:00"),
        ("Dienstag, Donnerstag und Freitag von 16:30 - 23:00 Uhr", "Tu,Th-Fr 16:30-23:00"),
        ("de segunda a sexta das 9h às 18h", "Mo-Fr 09:00-18:00"),
        ("Sábado Cerrado", "Sa off"),
        ("Daily 6:30am-10pm", "Mo-Su 06:30-22:00"),
        ("no hours here", ""),
        ("Fermé le dimanche", "Su off"),
        ("Closed Sunday, no lunch Saturday", "Su off"),
        ("Sundays: closed", "Su off"),
        ("Weekdays 9am-5pm", "Mo-Fr 09:00-17:00"),
        ("Fri & Sat 11am–midnight", "Fr-Sa 11:00-24:00"),
        ("Maandag t/m vrijdag 9.00 - 17.30 uur", "Mo-Fr 09:00-17:30"),
        ("周一至周五 9:00-18:00", "Mo-Fr 09:00-18:00"),
        ("월-금 09:00-18:00", "Mo-Fr 09:00-18:00"),
        ("Понедельник – пятница с 10:00 до 19:00", "Mo-Fr 10:00-19:00"),
        ("Pazartesi - Cuma: 09:00 - 18:00", "Mo-Fr 09:00-18:00"),
        ("Δευτέρα - Παρασκευή: 9:00 - 17:00", "Mo-Fr 09:00-17:00"),
    ],
)
def test_opening_hours_are_normalised(text: str, hours: str) -> None:
    assert normalise_hours(text) == hours


def guide_page(name: str, city: str, phone: str) -> FactPage:
    html = (
        f"<title>{name} Review | {city} | Good Food Guide</title><h1>{name} Review</h1><p>12 Main St<br>"
        f"{city}, TX 75001<br>{phone}</p><p>Cuisine: Thai</p><footer>Good Food Guide, call 800-555-0199</footer>"
    )
    return facts_of(html, f"https://guide.example/{name}")


def test_words_and_numbers_that_all_pages_share_are_not_the_restaurants() -> None:
    names = ("Blue Door", "Casa Luna", "The Ferry", "Old Mill", "Thai Basil", "Pho 75")
    pages = [guide_page(name, f"Town{n}", f"214-555-01{n:02}") for n, name in enumerate(names, 10)]
    profile = SiteProfile.learn(pages)
    settled = [settle(page, KINDS["restaurant"], profile) for page in pages]
    assert [next(f.text for f in facts if f.field == "name") for facts in settled] == list(names)
    assert all("+18005550199" not in [f.text for f in facts] for facts in settled)
    assert {f.text for facts in settled for f in facts if f.field == "cuisine"} == {"Thai"}


def test_the_address_right_after_the_name_is_its_own_whatever_is_listed_below() -> None:
    page = facts_of(
        "<title>Blue Door | City Guide</title><h1>Blue Door</h1><p>12 Main St, Springfield, IL<br>217-555-0100</p>"
        "<h3>Similar</h3><div><b>Zed's Famous Oyster Bar and Grill</b><p>9 Other St, Springfield, IL 62701</p></div>"
    )
    found = [fact.text for fact in settle(page, KINDS["restaurant"]) if fact.field == "address"]
    assert found == ["12 Main St, Springfield, IL"]


@pytest.mark.parametrize(
    ("url", "html", "name"),
    [
        ("https://muellerbau.de/kontakt", "<title>Kontakt - Müller Bau GmbH</title>", "Müller Bau GmbH"),
        (
            "https://stmary.org/",
            "<title>Welcome to St. Mary's School</title><h1>Welcome</h1>",
            "St. Mary's School",
        ),
        (
            "https://a.example/",
            "<h1>Impressum</h1><p>Sonnenschein Handels GmbH<br>Weg 5</p>",
            "Sonnenschein Handels GmbH",
        ),
        (
            "https://c.example/",
            "<div><em>We move water</em>Grey Valley Pumps Ltd</div><p>Grey Valley Pumps Ltd<br>9 Mill Road</p>",
            "Grey Valley Pumps Ltd",
        ),
        (
            "https://b.example/",
            "<title>Contact us | Harbour Clinic</title><h1>Say hello</h1>",
            "Harbour Clinic",
        ),
    ],
)
def test_the_name_of_an_organisation_is_found_on_a_single_page(url: str, html: str, name: str) -> None:
    assert (
        next(f.text for f in settle(facts_of(html, url), KINDS["organisation"]) if f.field == "name") == name
    )


def test_a_year_of_copyright_is_no_post_code() -> None:
    page = lines_of("<p>Hauptstraße 5</p><p>© 2024 Acme. All rights reserved</p>")
    assert all("2024" not in address.text for address in find_addresses(page, ["AT"]))


def test_a_field_that_a_user_declares_is_read_after_its_label() -> None:
    talk = KINDS["restaurant"].__class__("talk", "Talk", "Talks", (KINDS["restaurant"].fields[3],))
    page = facts_of("<dl><dt>Cuisine</dt><dd>Nordic</dd></dl>")
    assert [fact.text for fact in settle(page, talk)] == ["Nordic"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>/=\"' abctel:@.+0123456789\n{}[]itemproscd", max_size=400))
def test_no_markup_makes_extraction_fail(html: str) -> None:
    page = read_facts("https://x.example/", html.encode(), "text/html")
    for kind in ("organisation", "restaurant"):
        for fact in settle(page, KINDS[kind]):
            assert 0 <= fact.start <= fact.end <= len(page.lines.text)
            assert 0 < fact.confidence <= 1


def test_bytes_that_are_no_page_have_no_facts() -> None:
    assert read_facts("https://x.example/a.png", b"\x89PNG\r\n\x1a\n" + bytes(50), "image/png").facts == ()
    assert read_facts("https://x.example/", b"", "text/html").facts == ()


def test_ten_thousand_entities_on_a_page_are_cut_to_a_bounded_number() -> None:
    rows = "".join(
        f"<li>Firm {n}, {n} Main St, Town, TX {10000 + n}, 214-555-{n:04}</li>" for n in range(10_000)
    )
    page = facts_of(f"<ul>{rows}</ul>")
    assert 1 <= len(page.of("address")) <= 200
    assert 1 <= len(page.of("phone")) <= 200


def test_confidences_grow_with_the_evidence_and_stay_probabilities() -> None:
    for name in ("address", "phone", "name", "email", "founder"):
        shares = [calibrated(name, step / 100) for step in range(101)]
        assert shares == sorted(shares)
        assert all(0 <= share <= 1 for share in shares)


def test_a_confidence_between_two_measured_ones_is_interpolated() -> None:
    table = {"*": [(0.5, 0.2), (0.9, 1.0)]}
    assert [calibrated("x", at, table) for at in (0.1, 0.5, 0.7, 0.9, 1.0)] == [0.2, 0.2, 0.6, 1.0, 1.0]


def test_a_link_in_a_comment_is_not_read() -> None:
    page = facts_of("<!-- <a href='mailto:old@acme.org'>Mail</a> --><a href='mailto:new@acme.org'>Mail</a>")
    assert texts(page, "email") == ["new@acme.org"]


def test_inline_elements_inside_of_what_nobody_sees_are_left_alone() -> None:
    html = "<noscript><a href=x><b>a</b></a></noscript><p hidden><span>b <i>c</i></span></p><svg><title>d</title></svg>"
    page = facts_of(f"<title>Acme</title><body>{html}<p>Tel. <a href=y>+49 761 <b>123456</b></a></p>")
    assert page.lines.lines == ("Tel. +49 761 123456",)
    assert page.title == "Acme"


def test_an_irish_code_after_a_district_of_dublin_anchors_an_address() -> None:
    page = facts_of("<p>24 Grafton Street, Dublin 2, D02 X285</p>", "https://acme.ie/")
    assert texts(page, "address") == ["24 Grafton Street, Dublin 2, D02 X285"]


def test_answers_about_long_texts_are_not_kept() -> None:
    asked: list[str] = []
    ask = keep(asked.append)
    short, long = "x" * MAX_KEPT_CHARS, "x" * (MAX_KEPT_CHARS + 1)
    for text in (short, short, long, long):
        ask(text)
    assert asked == [short, long, long]


def test_pages_of_long_lines_leave_no_memory_behind() -> None:
    lines = 400
    read_facts("https://a.example/", b"<p>Call 030 1234567", "text/html")  # loads what stays
    tracemalloc.start()
    for number in range(20):
        body = "".join(f"<p>{number} {line} 12 Main Street, {'word ' * 1_000}" for line in range(lines))
        read_facts("https://a.example/", body.encode(), "text/html")
    del body
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 10_000_000  # 40 MB of text were read
    assert lines * 20 < MAX_KEPT


def test_linked_data_inside_of_what_nobody_sees_is_read_and_its_neighbours_are_not() -> None:
    data = json.dumps({"@type": "Restaurant", "name": "Trattoria Roma", "telephone": "+49 30 1234567"})
    script = f'<script type="application/ld+json">{data}</script>'
    hidden = f"<noscript><p>Call 030 7654321 <a>now</a></p>{script}</noscript>"
    page = read_facts("https://roma.de/", f"<h1>Roma</h1>{hidden}<p>Seen</p>".encode(), "text/html")
    assert [fact.text for fact in page.of("phone")] == ["+49301234567"]
    assert page.lines.lines == ("Roma", "Seen")


def test_thousands_of_addresses_are_read_in_linear_time() -> None:
    """Comparing each with all others, or looking through the rest of its line for each, would take minutes."""
    address = "Hauptstraße 5, 12345 Berlin"
    assert {found.text for found in find_addresses(PageLines("", lines=(address,) * 20_000))} == {address}
    crowded = PageLines("", lines=("C. P.11111 " * 4_000, "Hauptstraße 5, 10115 Berlin"))
    assert "Hauptstraße 5, 10115 Berlin" in {found.text for found in find_addresses(crowded)}


@pytest.mark.parametrize("line", ["{}! 101 101", "{}!, NX 10101", "101 101 {}!", "{}! CA 90210", "101 {}!"])
def test_a_line_of_hyphens_is_looked_through_once(line: str) -> None:
    """Each might part two words or belong to one: the time doubled with every hyphen."""
    found = find_addresses(PageLines("", lines=(line.format("A-" * 40),)), ("IS",))
    assert [address.post_code for address in found] == (["90210"] if "CA" in line else [])


def test_a_line_of_copyright_signs_is_looked_through_once() -> None:
    """What stands behind each was parted in every way, which took minutes for the last lines of a page."""
    lines = (
        ("©" * 300,) * 30 + ("© by" + " " * 295,) * 29 + ("© 2003–2007, by Acme Works. All rights reserved",)
    )
    page = PageLines("https://acme.example/", lines=lines)
    assert [fact.text for fact in organisation_name(page, (), (), TitleShape())] == ["Acme Works"]
