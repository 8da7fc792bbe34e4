-- The likeliest leaves of documents whose topic is unsure.

ALTER TABLE topic_placement ADD COLUMN best TEXT NOT NULL DEFAULT '[]';
