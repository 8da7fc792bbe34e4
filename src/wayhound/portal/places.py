"""A map of records whose pages state coordinates: points on a grid of degrees, drawn without anything from outside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wayhound.record import Record

WIDTH, MAX_HEIGHT, MIN_HEIGHT, MARGIN = 640, 420, 160, 28
MIN_SPAN = 0.02  # degrees: about two kilometres
_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60)


@dataclass(frozen=True, slots=True)
class MapPoint:
    x: float
    y: float
    title: str
    url: str
    here: bool = False


@dataclass(frozen=True, slots=True)
class GridLine:
    """A meridian at `x`, or a parallel at `y`, and its degrees."""

    label: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True, slots=True)
class PlaceMap:
    width: int
    height: int
    points: tuple[MapPoint, ...]
    grid: tuple[GridLine, ...]


Place = tuple[float, float, str, str]
"""Latitude, longitude, title and address of a record."""


def places_of(records: Iterable[tuple[Record | None, str, str]]) -> list[Place]:
    """Return the places of the records, with titles and addresses, that have coordinates."""
    places: list[Place] = []
    for record, title, url in records:
        try:
            latitude, longitude = map(float, (record.first("coordinates") if record else "").split(","))
        except ValueError:
            continue
        if abs(latitude) <= 90 and abs(longitude) <= 180:
            places.append((latitude, longitude, title, url))
    return places


def place_map(places: Sequence[Place], here: str = "") -> PlaceMap | None:
    """Return the places on a map that just holds them; None if there are none. `here` is the address to stress."""
    if not places:
        return None
    latitudes, longitudes = [place[0] for place in places], [place[1] for place in places]
    middle = (min(latitudes) + max(latitudes)) / 2, (min(longitudes) + max(longitudes)) / 2
    narrow = max(
        0.1, math.cos(math.radians(middle[0]))
    )  # a degree of longitude is shorter away from the equator
    span = max(MIN_SPAN, max(longitudes) - min(longitudes)), max(MIN_SPAN, max(latitudes) - min(latitudes))
    scale = min((WIDTH - 2 * MARGIN) / (span[0] * narrow), (MAX_HEIGHT - 2 * MARGIN) / span[1])
    height = round(max(MIN_HEIGHT, span[1] * scale + 2 * MARGIN))

    def x(longitude: float) -> float:
        return round(WIDTH / 2 + (longitude - middle[1]) * narrow * scale, 1)

    def y(latitude: float) -> float:
        return round(height / 2 - (latitude - middle[0]) * scale, 1)

    points = tuple(
        MapPoint(x(longitude), y(latitude), title, url, url == here)
        for latitude, longitude, title, url in places
    )
    reach = WIDTH / 2 / (narrow * scale), height / 2 / scale
    step = next((step for step in _STEPS if 2 * reach[0] / step <= 8), _STEPS[-1])
    meridians = (GridLine(_degrees(at, "EW", step), x=x(at)) for at in _ticks(middle[1], reach[0], step))
    parallels = (GridLine(_degrees(at, "NS", step), y=y(at)) for at in _ticks(middle[0], reach[1], step))
    return PlaceMap(WIDTH, height, points, (*meridians, *parallels))


def _ticks(middle: float, reach: float, step: float) -> Iterable[float]:
    first = math.ceil((middle - reach) / step)
    return [number * step for number in range(first, math.floor((middle + reach) / step) + 1)]


def _degrees(at: float, sides: str, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{abs(at):.{digits}f}° {sides[at < 0]}" if round(at, digits) else "0°"
