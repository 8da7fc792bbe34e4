"""All records are leafed through in pieces that can each be asked for by itself."""

from __future__ import annotations

import pytest

from wayhound.record import Record
from wayhound.store.database import Database
from wayhound.store.records import Catalogue, ChangeCursor, RecordStore


@pytest.mark.parametrize(("count", "pieces"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_the_pieces_are_every_record_once_deleted_ones_too(
    database: Database, count: int, pieces: int
) -> None:
    records = RecordStore(database)
    for number in range(count):
        records.save([Record("paper", str(number))])
    database.execute("DELETE FROM record WHERE id = '1'")
    catalogue = Catalogue(database)
    places = catalogue.cursors(2)
    told = [[stamp.id for stamp in catalogue.changed_after(place, 1e12, 2)] for place in places]
    assert places[0] == ChangeCursor()
    assert len(places) == pieces
    assert sorted(each for piece in told for each in piece) == [str(number) for number in range(count)]
