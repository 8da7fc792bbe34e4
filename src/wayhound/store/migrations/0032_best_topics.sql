-- The likeliest leaves of documents whose topic is unsure; and views of pages by day and kind, if they are counted.

ALTER TABLE topic_placement ADD COLUMN best TEXT NOT NULL DEFAULT '[]';

CREATE TABLE page_view (
    day TEXT NOT NULL,
    kind TEXT NOT NULL,
    views INTEGER NOT NULL,
    PRIMARY KEY (day, kind)
) STRICT, WITHOUT ROWID;
