-- Corrections of topics in the order in which they were made, so that the last one can be undone.

ALTER TABLE topic_correction ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
