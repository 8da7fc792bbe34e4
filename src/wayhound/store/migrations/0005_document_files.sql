-- Files that papers are read from: where their bytes stand in the archive, what came of reading them, and
-- where they were found. References keep all fields with their places; corrections tell who made them.

CREATE TABLE document_file (
    id TEXT PRIMARY KEY,  -- from the digest of its bytes; also the id of its record
    name TEXT NOT NULL,  -- as a person would call it: the last part of its path or URL
    outcome TEXT NOT NULL,  -- paper, document, or the reason why it could not be read
    detail TEXT NOT NULL,  -- the outcome as a sentence
    kind TEXT NOT NULL,  -- pdf, postscript, text; empty where that is not known
    page_count INTEGER NOT NULL,
    size INTEGER NOT NULL,  -- bytes
    archive_file TEXT NOT NULL,
    archive_offset INTEGER NOT NULL,
    archive_length INTEGER NOT NULL,
    read_with TEXT NOT NULL,  -- digest of the models that read it
    read_at REAL NOT NULL,
    change INTEGER NOT NULL  -- grows with every change of any file: tells what changed since
) STRICT, WITHOUT ROWID;

CREATE INDEX document_file_change ON document_file (change);

CREATE TABLE document_source (
    document TEXT NOT NULL REFERENCES document_file(id),
    url TEXT NOT NULL,  -- where it was found: of the web, or of a file
    site_id INTEGER NOT NULL,  -- the site of a run that found it; 0 where a person gave the file
    visit INTEGER,  -- number of the visit of that site
    site TEXT NOT NULL,  -- start URL of the site
    path TEXT NOT NULL,  -- JSON array: the texts of the links clicked from the start page on
    PRIMARY KEY (document, url, site_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX document_source_visit ON document_source (site_id, visit);

ALTER TABLE citation ADD COLUMN places TEXT NOT NULL DEFAULT '{}';  -- JSON: field to values with confidence and span

ALTER TABLE correction ADD COLUMN author TEXT NOT NULL DEFAULT '';  -- who made it
