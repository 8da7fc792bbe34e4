-- What visitors of the portal send in, what the operator decides about it, and when records came and changed.

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

CREATE INDEX submission_by_state ON submission (state, id);

-- Records that must not be shown again, since somebody had a right to ask for it.
CREATE TABLE withheld (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    submission INTEGER REFERENCES submission(id),
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER record_withheld BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM withheld WHERE kind = NEW.kind AND id = NEW.id) BEGIN
    SELECT RAISE(IGNORE);
END;

-- Harvesters ask for what changed since a day, and visitors for what is new.
CREATE TABLE record_time (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    added REAL NOT NULL,
    changed REAL NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX record_time_added ON record_time (added);
CREATE INDEX record_time_changed ON record_time (changed);

INSERT INTO record_time (kind, id, added, changed)
SELECT kind, id, now, now FROM record, (SELECT (julianday('now') - 2440587.5) * 86400.0 AS now) AS clock;

CREATE TRIGGER record_time_inserted AFTER INSERT ON record BEGIN
    INSERT INTO record_time (kind, id, added, changed)
    SELECT NEW.kind, NEW.id, (julianday('now') - 2440587.5) * 86400.0, 0.0
    WHERE NOT EXISTS (SELECT 1 FROM record_time WHERE kind = NEW.kind AND id = NEW.id);
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0, deleted = 0
    WHERE kind = NEW.kind AND id = NEW.id;
END;

CREATE TRIGGER record_time_updated AFTER UPDATE ON record BEGIN
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0
    WHERE kind = NEW.kind AND id = NEW.id;
END;

CREATE TRIGGER record_time_deleted AFTER DELETE ON record BEGIN
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0, deleted = 1
    WHERE kind = OLD.kind AND id = OLD.id;
END;
