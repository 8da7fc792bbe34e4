-- Pages that were read and requests that failed, for each site; and the lists of sites as people gave them.

ALTER TABLE site ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
UPDATE site SET
    pages = (SELECT count(*) FROM visit WHERE site_id = site.id AND outcome IN ('ok', 'duplicate')),
    failures = (SELECT count(*) FROM visit WHERE site_id = site.id AND outcome NOT IN ('ok', 'duplicate', 'redirect'));

ALTER TABLE run ADD COLUMN headings TEXT NOT NULL DEFAULT '[]';  -- of the table of sites, as JSON
CREATE TABLE list_row (
    run_id INTEGER NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,
    start TEXT NOT NULL,  -- empty for a row without an address
    cells TEXT NOT NULL,  -- as JSON
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
