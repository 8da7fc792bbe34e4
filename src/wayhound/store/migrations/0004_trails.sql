-- Trails that people taught, what was done to them since, and why goals were taken for goals.

CREATE TABLE taught_page (
    digest TEXT PRIMARY KEY,  -- of its content as it is kept here
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    content BLOB NOT NULL  -- compressed JSON, as a page line of a trail file
) STRICT, WITHOUT ROWID;

CREATE TABLE trail (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    taught_by TEXT NOT NULL,
    taught_at REAL NOT NULL,
    source TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX trail_site ON trail (site) WHERE deleted = 0;

CREATE TABLE trail_step (
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    page TEXT NOT NULL REFERENCES taught_page(digest),
    link TEXT,  -- JSON object; null for the start page
    label TEXT NOT NULL,
    PRIMARY KEY (trail_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX trail_step_page ON trail_step (page);

CREATE TABLE trail_change (
    id INTEGER PRIMARY KEY,
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    at REAL NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('delete', 'relabel')),
    step INTEGER,  -- of a relabelling
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE goal_reason (
    site_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    features TEXT NOT NULL,  -- JSON array of [feature, weight], the strongest first
    PRIMARY KEY (site_id, number),
    FOREIGN KEY (site_id, number) REFERENCES visit (site_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
