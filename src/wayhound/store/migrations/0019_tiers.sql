-- How certain each goal is by all pages of its site together, and how likely a site has none.

ALTER TABLE visit ADD COLUMN tier TEXT NOT NULL DEFAULT '' CHECK (tier IN ('', 'goal', 'likely'));
ALTER TABLE visit ADD COLUMN probability REAL;  -- by all pages of the site; null: `goal` is all that is known
UPDATE visit SET tier = 'goal' WHERE is_goal = 1;

DROP INDEX visit_goal;
CREATE INDEX visit_tier ON visit (url) WHERE tier <> '';

ALTER TABLE site ADD COLUMN likely INTEGER NOT NULL DEFAULT 0;
ALTER TABLE site ADD COLUMN none_probability REAL;  -- null: nobody has judged the site as a whole
ALTER TABLE tally ADD COLUMN likely INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN min_probability REAL;  -- of a goal; null: the cut with the best expected F1
