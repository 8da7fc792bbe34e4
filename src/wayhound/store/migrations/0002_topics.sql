-- Where documents stand in the topic tree, and where people put them.

CREATE TABLE topic_placement (
    document TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    topic TEXT NOT NULL,  -- names from the top, parted by the unit separator; empty: fits nowhere
    confidence REAL NOT NULL,
    leaf TEXT NOT NULL,
    second TEXT NOT NULL,
    second_confidence REAL NOT NULL,
    outside REAL NOT NULL,
    words TEXT NOT NULL,  -- JSON array of [word, weight]: what decided
    corrected INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX topic_placement_topic ON topic_placement (topic, confidence DESC);

CREATE TABLE topic_correction (
    document TEXT PRIMARY KEY,
    topic TEXT NOT NULL
) STRICT, WITHOUT ROWID;
