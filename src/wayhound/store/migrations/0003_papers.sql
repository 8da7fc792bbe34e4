-- References of papers, the groups of citations to one paper, where papers cite, and what people corrected.

CREATE TABLE citation_group (
    id INTEGER PRIMARY KEY,
    paper TEXT  -- id of the record of kind paper, where that paper is held
) STRICT;

CREATE INDEX citation_group_paper ON citation_group (paper) WHERE paper IS NOT NULL;

-- A reference of a paper; number 0 is the paper's own description, matched as references are.
CREATE TABLE citation (
    paper TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    group_id INTEGER NOT NULL REFERENCES citation_group(id),
    label TEXT NOT NULL DEFAULT '',  -- as printed before it: [3], (Lind, 1999)
    fields TEXT NOT NULL,  -- JSON object: title, authors, venue, year, pages, volume, note, text
    PRIMARY KEY (paper, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX citation_by_group ON citation (group_id);

CREATE TABLE citation_context (
    paper TEXT NOT NULL,
    number INTEGER NOT NULL,
    place INTEGER NOT NULL,  -- in order of the text
    sentence TEXT NOT NULL,
    start INTEGER NOT NULL,  -- of the call-out in the sentence
    stop INTEGER NOT NULL,
    page INTEGER NOT NULL,
    box TEXT,  -- JSON array: left, top, right, bottom in points
    PRIMARY KEY (paper, place),
    FOREIGN KEY (paper, number) REFERENCES citation (paper, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX citation_context_by_reference ON citation_context (paper, number);

CREATE TABLE correction (
    id INTEGER PRIMARY KEY,
    paper TEXT NOT NULL,
    field TEXT NOT NULL,
    before TEXT NOT NULL,  -- JSON array of the texts that were there
    after TEXT NOT NULL,  -- JSON array of the texts that are right
    at REAL NOT NULL
) STRICT;

CREATE INDEX correction_paper ON correction (paper);
