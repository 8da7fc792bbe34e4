-- Taught sites of which a person listed all goals, so that every other page of them is none.

CREATE TABLE complete_site (
    site TEXT PRIMARY KEY,  -- start URL, as trails have it
    goals TEXT NOT NULL,  -- JSON array of URLs
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;
