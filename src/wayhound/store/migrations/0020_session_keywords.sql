-- The few words of the topic that a person names before or after browsing freely, as a JSON list.

ALTER TABLE teach_session ADD COLUMN keywords TEXT NOT NULL DEFAULT '[]';
