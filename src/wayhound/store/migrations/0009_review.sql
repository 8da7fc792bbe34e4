-- What people are asked about visited pages, what they answered, what that changes, and jobs in the background.

CREATE TABLE review_candidate (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,  -- start URL
    number INTEGER NOT NULL,  -- of the visit
    url TEXT NOT NULL,
    chances TEXT NOT NULL,  -- JSON array: probability of a goal by each member of the committee
    link_group TEXT NOT NULL,  -- links that stand alike: number of the page they stand on, and their region
    stake REAL NOT NULL,  -- reward that hangs on the answer
    PRIMARY KEY (run_id, site, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE review_answer (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,
    number INTEGER NOT NULL,
    url TEXT NOT NULL,
    link_group TEXT NOT NULL,
    answer TEXT NOT NULL,  -- Goal, Fail, another label, or empty for "cannot say"
    chance REAL NOT NULL,  -- what the committee had expected
    worth REAL NOT NULL,  -- of the question, when it was asked
    trail_id INTEGER,  -- the trail that the answer became
    at REAL NOT NULL
) STRICT;

CREATE TABLE site_change (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,
    lost TEXT NOT NULL,  -- JSON array: URLs of goals that would be none any more
    gained TEXT NOT NULL,  -- JSON array: URLs of visited pages that would be goals now
    PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed', 'stopped')),
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    sentence TEXT NOT NULL DEFAULT '',  -- what it does now, or how it ended
    pid INTEGER,
    began_at REAL NOT NULL,
    ended_at REAL
) STRICT;
