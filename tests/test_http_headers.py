from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.fetched import (
    decode_headers,
    parse_content_type,
    redirect_target,
    restore_bytes,
    retry_after_seconds,
)

NOW = datetime(2024, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("text/html", ("text/html", "")),
        ("TEXT/HTML ; Charset=UTF-8", ("text/html", "utf-8")),
        ('text/html; charset="windows-1252"', ("text/html", "windows-1252")),
        ("text/html; boundary=x; charset='latin1'; q", ("text/html", "latin1")),
        ("text/html; charset=", ("text/html", "")),
        ("text/html; xcharset=utf-8", ("text/html", "")),
        ("; charset=utf-8", ("", "utf-8")),
        ("", ("", "")),
    ],
)
def test_a_content_type_is_a_media_type_and_a_charset(header: str, expected: tuple[str, str]) -> None:
    assert parse_content_type(header) == expected


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Mon, 01 Jan 2024 00:02:00 GMT", 120.0),
        ("Mon, 01 Jan 2024 00:02:00", 120.0),
        ("Sun, 31 Dec 2023 00:00:00 GMT", 0.0),
        ("999999999", 3600.0),
        ("9" * 5000, 0.0),
        ("Fri, 31 Dec 99999 23:59:59 GMT", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        (None, 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value: str | None, seconds: float) -> None:
    assert retry_after_seconds(value, now=NOW) == seconds


@given(st.text(max_size=60))
def test_any_retry_after_is_a_wait_of_an_hour_at_most(value: str) -> None:
    assert 0.0 <= retry_after_seconds(value) <= 3600.0


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [
        (301, "/b", "http://physics.example/b"),
        (308, "//maths.example", "http://maths.example/"),
        (302, "b?x=1#y", "http://physics.example/a/b?x=1"),
        (
            302,
            b"/gr\xc3\xbc\xc3\x9fe".decode("utf-8", "surrogateescape"),
            "http://physics.example/gr%C3%BC%C3%9Fe",
        ),
        (302, b"/gr\xfc\xdfe".decode("utf-8", "surrogateescape"), "http://physics.example/gr%C3%BC%C3%9Fe"),
        (302, "mailto:someone", ""),
        (302, "http://[", ""),
        (302, "", ""),
        (302, None, ""),
        (200, "/b", ""),
        (304, "/b", ""),
    ],
)
def test_a_redirect_leads_to_a_url_in_normal_form_or_nowhere(
    status: int, location: str | None, target: str
) -> None:
    assert redirect_target(status, location, "http://physics.example/a/") == target


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), max_size=5))
def test_headers_of_any_bytes_can_be_encoded_again(raw: list[tuple[bytes, bytes]]) -> None:
    headers = decode_headers(raw)
    assert len(headers) == len(raw)
    assert str(headers).encode("utf-8")
    for (_, sent), (_, value) in zip(raw, headers, strict=True):
        assert sent in {value.encode("utf-8"), value.encode("latin-1", "replace")}


@given(st.binary(max_size=20))
def test_surrogate_escapes_of_aiohttp_are_undone(raw: bytes) -> None:
    value = restore_bytes(raw.decode("utf-8", "surrogateescape"))
    assert raw in {value.encode("utf-8"), value.encode("latin-1", "replace")}
