-- The page of a record asks by which clicks it was found: its site must not be looked for among all of them.

CREATE INDEX site_start ON site (start);
