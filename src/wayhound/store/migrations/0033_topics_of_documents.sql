-- Documents are placed in topics as papers are: where one is placed changes what a portal shows of it.

CREATE TRIGGER topic_of_document_inserted AFTER INSERT ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'document' AND id = NEW.document;
END;

CREATE TRIGGER topic_of_document_deleted AFTER DELETE ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'document' AND id = OLD.document;
END;
