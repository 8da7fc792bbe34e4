-- What visitors of the portal send in, and what the operator decides about it.

CREATE TABLE submission (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,  -- unguessable: whoever knows it may see how the submission stands
    kind TEXT NOT NULL CHECK (kind IN ('site', 'paper', 'removal', 'correction')),
    url TEXT NOT NULL,  -- of the site or paper, or of what shall be removed; empty for a correction
    record_kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    field TEXT NOT NULL,
    texts TEXT NOT NULL,  -- JSON array: what the values of the field should be
    note TEXT NOT NULL,
    contact TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'rejected')),
    reply TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL,
    decided_at REAL
) STRICT;

CREATE INDEX submission_waiting ON submission (state, id);

-- Records that must not be shown again, since somebody had a right to ask for it.
CREATE TABLE withheld (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    submission INTEGER REFERENCES submission(id),
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
