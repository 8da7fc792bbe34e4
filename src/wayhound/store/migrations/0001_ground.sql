-- Runs, their sites, every visit, and extracted records.

CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,  -- JSON object with sorted keys: equal text, same run
    budget_per_site INTEGER,
    total_budget INTEGER,
    max_depth INTEGER,
    sites INTEGER NOT NULL DEFAULT 0,
    sites_done INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    opened_at REAL NOT NULL
) STRICT;

CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run(id),
    start TEXT NOT NULL,
    hosts TEXT NOT NULL,  -- JSON array
    domain TEXT NOT NULL,
    turn INTEGER NOT NULL,  -- order in which the run met the domain; the sites of one domain share it
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'done')),
    reason TEXT NOT NULL DEFAULT '',
    total_refused INTEGER NOT NULL DEFAULT 0,  -- 1 if it ended after the total budget was refused to its worker
    worker TEXT,
    lease_until REAL,
    visits INTEGER NOT NULL DEFAULT 0,
    spent INTEGER NOT NULL DEFAULT 0,
    goals INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, start),
    CHECK ((state = 'leased') = (worker IS NOT NULL)),
    CHECK ((state = 'leased') = (lease_until IS NOT NULL))
) STRICT;

CREATE INDEX site_waiting ON site (run_id, turn) WHERE state = 'waiting';
-- Politeness per host is exact because no two sites of one domain can be leased at one time.
CREATE UNIQUE INDEX site_leased ON site (domain) WHERE state = 'leased';

CREATE TABLE visit (
    site_id INTEGER NOT NULL REFERENCES site(id),
    number INTEGER NOT NULL,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at REAL NOT NULL,
    parent INTEGER CHECK (parent < number),
    link_text TEXT NOT NULL,
    link_region TEXT NOT NULL,
    link_kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    score REAL NOT NULL,
    status INTEGER,
    content_type TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    label TEXT NOT NULL,
    goal REAL NOT NULL,
    is_goal INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    wait_seconds REAL NOT NULL,
    location TEXT NOT NULL,
    archive_file TEXT,
    archive_offset INTEGER,
    archive_length INTEGER,
    PRIMARY KEY (site_id, number)
) STRICT, WITHOUT ROWID;

-- Counted as visits are saved, so that progress and the total budget never need a count over all visits.
CREATE TABLE tally (
    run_id INTEGER NOT NULL REFERENCES run(id),
    outcome TEXT NOT NULL,
    visits INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    goals INTEGER NOT NULL,
    PRIMARY KEY (run_id, outcome)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservation (
    run_id INTEGER NOT NULL REFERENCES run(id),
    worker TEXT NOT NULL,
    fetches INTEGER NOT NULL CHECK (fetches >= 0),
    PRIMARY KEY (run_id, worker)
) STRICT, WITHOUT ROWID;

CREATE TABLE record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    site TEXT NOT NULL,
    visit INTEGER,
    fields TEXT NOT NULL,  -- JSON object: name to values with confidence and span
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
