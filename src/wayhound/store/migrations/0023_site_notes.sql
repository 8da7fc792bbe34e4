-- The program of a site, with which its next run begins, and questions to a person while a forage runs.

CREATE TABLE site_program (
    start TEXT NOT NULL,
    purpose TEXT NOT NULL,  -- what it leads to: the name of a model, or the words that were looked for
    program TEXT NOT NULL,
    edited INTEGER NOT NULL DEFAULT 0,  -- 1 if a person wrote it: forages then leave it as it is
    run_id INTEGER NOT NULL,  -- the run that it was learned from or edited after
    at REAL NOT NULL,
    PRIMARY KEY (start, purpose)
) STRICT, WITHOUT ROWID;

ALTER TABLE site ADD COLUMN program TEXT;  -- that its forage began with, so that a resumed one does not differ
ALTER TABLE run ADD COLUMN questions INTEGER;  -- at most so many about each site; null: none

-- A page that a person should judge while the forage runs. The answer itself is a `review_answer`.
CREATE TABLE question (
    site_id INTEGER NOT NULL REFERENCES site(id),
    number INTEGER NOT NULL,  -- of the visit
    probability REAL NOT NULL,  -- of a goal, when it was asked
    asked_at REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'answered', 'skipped')),
    PRIMARY KEY (site_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_waiting ON question (asked_at) WHERE state = 'waiting';

-- The number of visits when the forage took the answer into account: a resumed one does so at the same moment.
ALTER TABLE review_answer ADD COLUMN after INTEGER;
