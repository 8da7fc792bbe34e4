-- Facts extracted from archived pages, and what people decided about them.

CREATE TABLE fact_page (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,  -- of the description: the URL of a page, or the start page of a site
    site TEXT NOT NULL,
    domain TEXT NOT NULL DEFAULT '',  -- of a site that belongs to the thing itself
    run INTEGER,
    state TEXT NOT NULL,  -- digest of what it was made from; equal means up to date
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE fact (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    number INTEGER NOT NULL,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    confidence REAL NOT NULL,
    url TEXT NOT NULL,
    start INTEGER NOT NULL,  -- in the visible text of the page
    end INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (kind, key, number)
) STRICT, WITHOUT ROWID;

-- A person's word on one field of one description; it holds when the page is read again. No text: the field is empty.
CREATE TABLE fact_correction (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    field TEXT NOT NULL,
    texts TEXT NOT NULL,  -- JSON array
    at REAL NOT NULL,
    PRIMARY KEY (kind, key, field)
) STRICT, WITHOUT ROWID;

-- Two descriptions that a person put together or told apart.
CREATE TABLE fact_pair (
    kind TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    same INTEGER NOT NULL,
    PRIMARY KEY (kind, one, other)
) STRICT, WITHOUT ROWID;

-- A value that a person marked on a page, from which the template of the site is learned.
CREATE TABLE fact_example (
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, url, field, text)
) STRICT, WITHOUT ROWID;
