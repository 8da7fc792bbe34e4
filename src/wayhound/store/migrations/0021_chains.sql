-- Link chains: relationships with their rules, the examples that they were learned from, and their instances.

CREATE TABLE relationship (
    name TEXT PRIMARY KEY,
    source TEXT NOT NULL,  -- concepts
    target TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    inverse TEXT NOT NULL DEFAULT '',
    rules TEXT NOT NULL DEFAULT '',  -- JSON; empty until learned
    learned_at REAL
) STRICT, WITHOUT ROWID;

CREATE TABLE chain_example (
    id INTEGER PRIMARY KEY,
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    chain TEXT NOT NULL,  -- JSON array of links
    wanted INTEGER NOT NULL,
    UNIQUE (relationship, chain)
) STRICT;

CREATE TABLE chain_instance (
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    chain TEXT NOT NULL,  -- JSON array of [page, position of the link, text of the link, target]
    PRIMARY KEY (relationship, source, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX chain_instance_target ON chain_instance (target);
CREATE INDEX chain_instance_source ON chain_instance (source);

-- Source pages of an extraction: how many links the rules took from each.
CREATE TABLE chain_source (
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    url TEXT NOT NULL,
    links INTEGER,  -- null: the page could not be read
    title TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (relationship, url)
) STRICT, WITHOUT ROWID;

-- Pages that were fetched for chains alone; others are found through the visits of runs.
CREATE TABLE chain_page (
    url TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
