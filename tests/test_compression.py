from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.files import MAX_GZIP_MEMBERS, Body, DecompressionError, accept_encoding, decompress

TEXT = b"<p>Professors and their papers</p>" * 20


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("sent", "coding"),
    [
        (TEXT, ""),
        (TEXT, "identity"),
        (TEXT, "utf-8"),
        (gzip.compress(TEXT, mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0), "X-GZIP"),
        (zlib.compress(TEXT), "deflate"),
        (bare_deflate(TEXT), "deflate"),
        (gzip.compress(zlib.compress(TEXT), mtime=0), "deflate, gzip"),
        (gzip.compress(TEXT[:50], mtime=0) + gzip.compress(TEXT[50:], mtime=0), "gzip"),
        (gzip.compress(TEXT, mtime=0) + bytes(512), "gzip"),
        (gzip.compress(TEXT, mtime=0) + b"trailing noise", "gzip"),
    ],
)
def test_a_body_is_decompressed_by_its_codings(sent: bytes, coding: str) -> None:
    assert decompress(sent, coding, 10_000) == Body(TEXT, whole=True)


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_an_empty_body_needs_no_coding(coding: str) -> None:
    assert decompress(b"", coding, 100) == Body(b"", whole=True)


@pytest.mark.parametrize(
    ("sent", "coding"),
    [
        (TEXT, "gzip"),
        (b"\xff" + TEXT, "deflate"),
        (TEXT, "zstd"),
        (TEXT, "\x1b[31m"),
        (gzip.compress(b"", mtime=0) * (MAX_GZIP_MEMBERS + 1), "gzip"),
    ],
)
def test_a_body_that_is_not_what_its_coding_says_is_refused(sent: bytes, coding: str) -> None:
    with pytest.raises(DecompressionError):
        decompress(sent, coding, 10_000)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_truncated_body_is_not_whole(coding: str) -> None:
    sent = (gzip.compress if coding == "gzip" else zlib.compress)(TEXT)[:-6]
    body = decompress(sent, coding, 10_000)
    assert not body.whole
    assert len(body.data) <= len(TEXT)


@given(st.binary(max_size=3000), st.integers(0, 3000), st.sampled_from(["gzip", "deflate", "gzip, gzip"]))
def test_decompression_stops_just_past_the_limit(data: bytes, limit: int, coding: str) -> None:
    packed = zlib.compress(data) if coding == "deflate" else gzip.compress(data)
    if coding == "gzip, gzip":
        packed = gzip.compress(packed)
        limit = max(limit, len(packed) + 50)  # or else the inner file is what is too big
    body = decompress(packed, coding, limit)
    assert len(body.data) <= limit + 1
    assert data.startswith(body.data)
    assert (len(body.data) > limit) == (len(data) > limit)


def test_brotli_is_accepted_and_limited_if_installed() -> None:
    brotli = pytest.importorskip("brotli", minversion="1.2")
    assert "br" in accept_encoding()
    assert decompress(brotli.compress(TEXT), "br", 10_000) == Body(TEXT, whole=True)
    bomb = decompress(brotli.compress(bytes(50_000_000), quality=1), "br", 10_000)
    assert 10_000 < len(bomb.data) < 10_000_000
    assert not decompress(brotli.compress(TEXT)[:-3], "br", 10_000).whole
    with pytest.raises(DecompressionError):
        decompress(b"\xff" * 50, "br", 10_000)
