-- Pages that a server need not send again: which visits it said so of, and where a page was kept last.

ALTER TABLE visit ADD COLUMN not_modified INTEGER NOT NULL DEFAULT 0;  -- 1 if the server said so instead of sending it

CREATE INDEX visit_page ON visit (url, at) WHERE outcome IN ('ok', 'duplicate');
