-- A rising number for every change to what can be searched for, so that the search index can follow.

CREATE TABLE record_change (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    change INTEGER NOT NULL,  -- of its last change; stays when the record is deleted
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX record_change_number ON record_change (change);

-- Worked out for the whole citation graph at once, and so kept beside what they are worked out from.
CREATE TABLE paper_score (
    paper TEXT PRIMARY KEY,
    authority REAL NOT NULL,
    hub REAL NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO record_change (kind, id, change)
SELECT kind, id, row_number() OVER (ORDER BY kind, id) FROM record;

CREATE TRIGGER record_inserted AFTER INSERT ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT NEW.kind, NEW.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;

CREATE TRIGGER record_updated AFTER UPDATE ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT NEW.kind, NEW.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;

CREATE TRIGGER record_deleted AFTER DELETE ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT OLD.kind, OLD.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;

CREATE TRIGGER topic_placement_inserted AFTER INSERT ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.document;
END;

CREATE TRIGGER topic_placement_deleted AFTER DELETE ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.document;
END;

-- How often a paper is cited changes with the references of other papers.
CREATE TRIGGER citation_inserted AFTER INSERT ON citation BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = (SELECT paper FROM citation_group WHERE id = NEW.group_id);
END;

CREATE TRIGGER citation_deleted AFTER DELETE ON citation BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = (SELECT paper FROM citation_group WHERE id = OLD.group_id);
END;

CREATE TRIGGER citation_group_updated AFTER UPDATE OF paper ON citation_group BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;

CREATE TRIGGER paper_score_inserted AFTER INSERT ON paper_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;

CREATE TRIGGER paper_score_deleted AFTER DELETE ON paper_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
END;
