-- Answers that teach the sites after them, and the goals that are expected to be left on a site.

-- The last answer about other sites of the run that was known when a site's forage began: a resumed one begins alike.
ALTER TABLE site ADD COLUMN last_answer INTEGER;
ALTER TABLE site ADD COLUMN goals_left REAL;  -- expected at the last report; null if nothing judged that
ALTER TABLE run ADD COLUMN min_goals_left REAL;  -- a site ends when fewer are expected; null: it goes on
