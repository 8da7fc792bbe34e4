-- Extraction in the order of what people ask for, and the readings of extractors that cost time or money.

ALTER TABLE site ADD COLUMN about TEXT NOT NULL DEFAULT '';  -- the rest of the row of the table that named the site

-- The record of the entity that a description belongs to, so that a table of facts need not bring all together again.
ALTER TABLE fact_page ADD COLUMN entity TEXT NOT NULL DEFAULT '';
CREATE INDEX fact_page_entity ON fact_page (kind, entity);

CREATE TABLE fact_reading (
    kind TEXT NOT NULL,
    extractor TEXT NOT NULL,
    url TEXT NOT NULL,
    digest TEXT NOT NULL,  -- of the page that was read; another page at the same address is read again
    facts TEXT NOT NULL,  -- JSON array
    seconds REAL NOT NULL,
    money REAL NOT NULL,
    PRIMARY KEY (kind, extractor, url)
) STRICT, WITHOUT ROWID;
