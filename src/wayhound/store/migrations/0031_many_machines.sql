-- For workers on many machines: each counts its visits in rows of its own, and finds its leases by its name.

CREATE TABLE tally_by_slot (
    run_id INTEGER NOT NULL REFERENCES run(id),
    outcome TEXT NOT NULL,
    slot INTEGER NOT NULL DEFAULT 0,  -- a worker adds to one: two would wait for each other at every visit
    visits INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    goals INTEGER NOT NULL,
    likely INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, outcome, slot)
) STRICT, WITHOUT ROWID;

INSERT INTO tally_by_slot (run_id, outcome, visits, spent, goals, likely)
SELECT run_id, outcome, visits, spent, goals, likely FROM tally;

DROP TABLE tally;
ALTER TABLE tally_by_slot RENAME TO tally;

CREATE INDEX site_held ON site (worker) WHERE state = 'leased';
