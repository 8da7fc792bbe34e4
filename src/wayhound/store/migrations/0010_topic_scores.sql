-- Hubs and authorities among the papers of each topic alone.

CREATE TABLE topic_score (
    paper TEXT NOT NULL,
    topic TEXT NOT NULL,  -- names from the top, parted by the unit separator
    authority REAL NOT NULL,
    hub REAL NOT NULL,
    PRIMARY KEY (paper, topic)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER topic_score_inserted AFTER INSERT ON topic_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;

CREATE TRIGGER topic_score_deleted AFTER DELETE ON topic_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
END;
