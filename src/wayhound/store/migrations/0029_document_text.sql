-- The text of papers and documents by page, for search: compressed JSON, an array of one text a page.

CREATE TABLE document_text (
    document TEXT PRIMARY KEY,
    pages BLOB NOT NULL
) STRICT;

-- The text of a paper goes with its record, also when it is withheld on request.
CREATE TRIGGER document_text_of_record AFTER DELETE ON record WHEN old.kind IN ('paper', 'document') BEGIN
    DELETE FROM document_text WHERE document = old.id;
END;
