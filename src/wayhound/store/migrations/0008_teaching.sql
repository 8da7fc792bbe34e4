-- Sessions in which a person shows the way, written down while they happen: nothing waits for their end.

CREATE TABLE teach_session (
    id INTEGER PRIMARY KEY,
    way TEXT NOT NULL CHECK (way IN ('trails', 'free')),
    sites TEXT NOT NULL,  -- JSON array of start URLs, in the order in which they are taught
    taught_by TEXT NOT NULL,
    began_at REAL NOT NULL,
    ended_at REAL  -- null until the teacher says that it is done
) STRICT;

-- What happened, in order; the state of a session is the fold of these.
CREATE TABLE teach_event (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,  -- JSON object
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;

-- Pages as the teacher saw them (rendered) and as they came (original).
CREATE TABLE teach_page (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    at REAL NOT NULL,
    status INTEGER,
    content_type TEXT NOT NULL,
    digest TEXT NOT NULL,  -- of the rendered page
    seen_file TEXT,
    seen_offset INTEGER,
    seen_length INTEGER,
    original_file TEXT,
    original_offset INTEGER,
    original_length INTEGER,
    hops INTEGER,  -- of free sessions: clicks to the nearest useful page; null if none can be reached
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;

-- The trail that was kept for the page where it ends, so that a mark can be taken back or changed.
CREATE TABLE teach_trail (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    page INTEGER NOT NULL,
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, page)
) STRICT, WITHOUT ROWID;

-- Of free sessions: the links between the pages that were visited.
CREATE TABLE teach_link (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (session_id, source, target)
) STRICT, WITHOUT ROWID;
