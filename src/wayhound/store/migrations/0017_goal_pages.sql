-- Goal pages as records: which visit each was made from, so that a sync reads only the pages that changed.

CREATE TABLE goal_page (
    id TEXT PRIMARY KEY,  -- of its record, from the digest of the URL
    url TEXT NOT NULL,
    state TEXT NOT NULL,  -- digest of all that the record was made from; equal means up to date
    first_seen REAL NOT NULL,  -- when a run first took the page for a goal
    made TEXT NOT NULL DEFAULT '[]'  -- JSON array of [kind, id]: records that extractors made from the page
) STRICT, WITHOUT ROWID;

CREATE INDEX visit_goal ON visit (url) WHERE is_goal = 1;

-- A later run that is redirected, or told that the page is gone, ends its life as a goal.
CREATE INDEX visit_moved ON visit (url) WHERE outcome IN ('redirect', 'http_404', 'http_410');

-- Visits are numbered within one site of one run, so a record must know the run of its visit.
ALTER TABLE record ADD COLUMN run INTEGER;  -- null: the newest run that has the visit
