-- Leases are told apart by number, not by the name of their worker, and expire by beats that are not made, not by the clock.

ALTER TABLE site RENAME COLUMN lease_until TO leased_at;  -- for people only
ALTER TABLE site ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;  -- counts the leases of the site; a write needs the last one
ALTER TABLE site ADD COLUMN beats INTEGER NOT NULL DEFAULT 0;  -- counts the renewals

-- A reservation belongs to a lease and ends with it. Earlier ones are of processes that have ended.
DROP TABLE reservation;
CREATE TABLE reservation (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site_id INTEGER NOT NULL REFERENCES site(id),
    PRIMARY KEY (run_id, site_id)
) STRICT, WITHOUT ROWID;
