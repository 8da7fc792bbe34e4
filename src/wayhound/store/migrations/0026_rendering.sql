-- The part of a browser in each visit: '', 'rendered', 'same' or 'needed'.

ALTER TABLE visit ADD COLUMN rendering TEXT NOT NULL DEFAULT '';
