-- Made by scripts/new_tables: the tables as migrations 1 to 32 leave them.
CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
) STRICT;
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE,  -- JSON object with sorted keys: equal text, same run
    budget_per_site INTEGER,
    total_budget INTEGER,
    max_depth INTEGER,
    sites INTEGER NOT NULL DEFAULT 0,
    sites_done INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    opened_at REAL NOT NULL
, min_probability REAL, questions INTEGER, min_goals_left REAL, headings TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE TABLE site (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run(id),
    start TEXT NOT NULL,
    hosts TEXT NOT NULL,  -- JSON array
    domain TEXT NOT NULL,
    turn INTEGER NOT NULL,  -- order in which the run met the domain; the sites of one domain share it
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'done')),
    reason TEXT NOT NULL DEFAULT '',
    total_refused INTEGER NOT NULL DEFAULT 0,  -- 1 if it ended after the total budget was refused to its worker
    worker TEXT,
    leased_at REAL,
    visits INTEGER NOT NULL DEFAULT 0,
    spent INTEGER NOT NULL DEFAULT 0,
    goals INTEGER NOT NULL DEFAULT 0, likely INTEGER NOT NULL DEFAULT 0, none_probability REAL, program TEXT, fence INTEGER NOT NULL DEFAULT 0, beats INTEGER NOT NULL DEFAULT 0, last_answer INTEGER, goals_left REAL, about TEXT NOT NULL DEFAULT '', pages INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,
    UNIQUE (run_id, start),
    CHECK ((state = 'leased') = (worker IS NOT NULL)),
    CHECK ((state = 'leased') = (leased_at IS NOT NULL))
) STRICT;
CREATE INDEX site_waiting ON site (run_id, turn) WHERE state = 'waiting';
CREATE UNIQUE INDEX site_leased ON site (domain) WHERE state = 'leased';
CREATE TABLE visit (
    site_id INTEGER NOT NULL REFERENCES site(id),
    number INTEGER NOT NULL,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at REAL NOT NULL,
    parent INTEGER CHECK (parent < number),
    link_text TEXT NOT NULL,
    link_region TEXT NOT NULL,
    link_kind TEXT NOT NULL,
    depth INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    score REAL NOT NULL,
    status INTEGER,
    content_type TEXT NOT NULL,
    title TEXT NOT NULL,
    digest TEXT NOT NULL,
    label TEXT NOT NULL,
    goal REAL NOT NULL,
    is_goal INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    wait_seconds REAL NOT NULL,
    location TEXT NOT NULL,
    archive_file TEXT,
    archive_offset INTEGER,
    archive_length INTEGER, robots TEXT NOT NULL DEFAULT '', not_modified INTEGER NOT NULL DEFAULT 0, tier TEXT NOT NULL DEFAULT '' CHECK (tier IN ('', 'goal', 'likely')), probability REAL, rendering TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (site_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE record (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    site TEXT NOT NULL,
    visit INTEGER,
    fields TEXT NOT NULL, run INTEGER,  -- JSON object: name to values with confidence and span
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE topic_placement (
    document TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    topic TEXT NOT NULL,  -- names from the top, parted by the unit separator; empty: fits nowhere
    confidence REAL NOT NULL,
    leaf TEXT NOT NULL,
    second TEXT NOT NULL,
    second_confidence REAL NOT NULL,
    outside REAL NOT NULL,
    words TEXT NOT NULL,  -- JSON array of [word, weight]: what decided
    corrected INTEGER NOT NULL
, best TEXT NOT NULL DEFAULT '[]') STRICT, WITHOUT ROWID;
CREATE INDEX topic_placement_topic ON topic_placement (topic, confidence DESC);
CREATE TABLE topic_correction (
    document TEXT PRIMARY KEY,
    topic TEXT NOT NULL
, number INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE TABLE citation_group (
    id INTEGER PRIMARY KEY,
    paper TEXT  -- id of the record of kind paper, where that paper is held
) STRICT;
CREATE INDEX citation_group_paper ON citation_group (paper) WHERE paper IS NOT NULL;
CREATE TABLE citation (
    paper TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    group_id INTEGER NOT NULL REFERENCES citation_group(id),
    label TEXT NOT NULL DEFAULT '',  -- as printed before it: [3], (Lind, 1999)
    fields TEXT NOT NULL, places TEXT NOT NULL DEFAULT '{}',  -- JSON object: title, authors, venue, year, pages, volume, note, text
    PRIMARY KEY (paper, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX citation_by_group ON citation (group_id);
CREATE TABLE citation_context (
    paper TEXT NOT NULL,
    number INTEGER NOT NULL,
    place INTEGER NOT NULL,  -- in order of the text
    sentence TEXT NOT NULL,
    start INTEGER NOT NULL,  -- of the call-out in the sentence
    stop INTEGER NOT NULL,
    page INTEGER NOT NULL,
    box TEXT,  -- JSON array: left, top, right, bottom in points
    PRIMARY KEY (paper, place),
    FOREIGN KEY (paper, number) REFERENCES citation (paper, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX citation_context_by_reference ON citation_context (paper, number);
CREATE TABLE correction (
    id INTEGER PRIMARY KEY,
    paper TEXT NOT NULL,
    field TEXT NOT NULL,
    before TEXT NOT NULL,  -- JSON array of the texts that were there
    after TEXT NOT NULL,  -- JSON array of the texts that are right
    at REAL NOT NULL
, author TEXT NOT NULL DEFAULT '') STRICT;
CREATE INDEX correction_paper ON correction (paper);
CREATE TABLE taught_page (
    digest TEXT PRIMARY KEY,  -- of its content as it is kept here
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    content BLOB NOT NULL  -- compressed JSON, as a page line of a trail file
) STRICT, WITHOUT ROWID;
CREATE TABLE trail (
    id INTEGER PRIMARY KEY,
    site TEXT NOT NULL,
    taught_by TEXT NOT NULL,
    taught_at REAL NOT NULL,
    source TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX trail_site ON trail (site) WHERE deleted = 0;
CREATE TABLE trail_step (
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    page TEXT NOT NULL REFERENCES taught_page(digest),
    link TEXT,  -- JSON object; null for the start page
    label TEXT NOT NULL,
    PRIMARY KEY (trail_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX trail_step_page ON trail_step (page);
CREATE TABLE trail_change (
    id INTEGER PRIMARY KEY,
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    at REAL NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('delete', 'relabel')),
    step INTEGER,  -- of a relabelling
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE goal_reason (
    site_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    features TEXT NOT NULL,  -- JSON array of [feature, weight], the strongest first
    PRIMARY KEY (site_id, number),
    FOREIGN KEY (site_id, number) REFERENCES visit (site_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
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
CREATE TABLE record_change (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    change INTEGER NOT NULL,  -- of its last change; stays when the record is deleted
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX record_change_number ON record_change (change);
CREATE TABLE paper_score (
    paper TEXT PRIMARY KEY,
    authority REAL NOT NULL,
    hub REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER record_inserted AFTER INSERT ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT NEW.kind, NEW.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER record_updated AFTER UPDATE ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT NEW.kind, NEW.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER record_deleted AFTER DELETE ON record BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT OLD.kind, OLD.id, coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER topic_placement_inserted AFTER INSERT ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.document;
END;
CREATE TRIGGER topic_placement_deleted AFTER DELETE ON topic_placement BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.document;
END;
CREATE TRIGGER citation_inserted AFTER INSERT ON citation BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = (SELECT paper FROM citation_group WHERE id = NEW.group_id);
END;
CREATE TRIGGER citation_deleted AFTER DELETE ON citation BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = (SELECT paper FROM citation_group WHERE id = OLD.group_id);
END;
CREATE TRIGGER citation_group_updated AFTER UPDATE OF paper ON citation_group BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;
CREATE TRIGGER paper_score_inserted AFTER INSERT ON paper_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;
CREATE TRIGGER paper_score_deleted AFTER DELETE ON paper_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
END;
CREATE TABLE submission (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,  -- unguessable: whoever knows it may see how the submission stands
    kind TEXT NOT NULL CHECK (kind IN ('site', 'paper', 'removal', 'correction')),
    url TEXT NOT NULL,  -- of the site or paper, or of what shall be removed; empty for a correction
    record_kind TEXT NOT NULL,
    record_id TEXT NOT NULL,
    field TEXT NOT NULL,
    texts TEXT NOT NULL,  -- JSON array: what the values of the field should be
    note TEXT NOT NULL,
    contact TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'rejected')),
    reply TEXT NOT NULL DEFAULT '',
    at REAL NOT NULL,
    decided_at REAL
) STRICT;
CREATE INDEX submission_by_state ON submission (state, id);
CREATE TABLE withheld (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    submission INTEGER REFERENCES submission(id),
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER record_withheld BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM withheld WHERE kind = NEW.kind AND id = NEW.id) BEGIN
    SELECT RAISE(IGNORE);
END;
CREATE TABLE record_time (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    added REAL NOT NULL,
    changed REAL NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_time_added ON record_time (added);
CREATE INDEX record_time_changed ON record_time (changed);
CREATE TRIGGER record_time_inserted AFTER INSERT ON record BEGIN
    INSERT INTO record_time (kind, id, added, changed)
    SELECT NEW.kind, NEW.id, (julianday('now') - 2440587.5) * 86400.0, 0.0
    WHERE NOT EXISTS (SELECT 1 FROM record_time WHERE kind = NEW.kind AND id = NEW.id);
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0, deleted = 0
    WHERE kind = NEW.kind AND id = NEW.id;
END;
CREATE TRIGGER record_time_updated AFTER UPDATE ON record BEGIN
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0
    WHERE kind = NEW.kind AND id = NEW.id;
END;
CREATE TRIGGER record_time_deleted AFTER DELETE ON record BEGIN
    UPDATE record_time SET changed = (julianday('now') - 2440587.5) * 86400.0, deleted = 1
    WHERE kind = OLD.kind AND id = OLD.id;
END;
CREATE TABLE teach_session (
    id INTEGER PRIMARY KEY,
    way TEXT NOT NULL CHECK (way IN ('trails', 'free')),
    sites TEXT NOT NULL,  -- JSON array of start URLs, in the order in which they are taught
    taught_by TEXT NOT NULL,
    began_at REAL NOT NULL,
    ended_at REAL  -- null until the teacher says that it is done
, keywords TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE TABLE teach_event (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    at REAL NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,  -- JSON object
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE teach_page (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    at REAL NOT NULL,
    status INTEGER,
    content_type TEXT NOT NULL,
    digest TEXT NOT NULL,  -- of the rendered page
    seen_file TEXT,
    seen_offset INTEGER,
    seen_length INTEGER,
    original_file TEXT,
    original_offset INTEGER,
    original_length INTEGER,
    hops INTEGER,  -- of free sessions: clicks to the nearest useful page; null if none can be reached
    PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE teach_trail (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    page INTEGER NOT NULL,
    trail_id INTEGER NOT NULL REFERENCES trail(id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, page)
) STRICT, WITHOUT ROWID;
CREATE TABLE teach_link (
    session_id INTEGER NOT NULL REFERENCES teach_session(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    PRIMARY KEY (session_id, source, target)
) STRICT, WITHOUT ROWID;
CREATE TABLE review_candidate (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,  -- start URL
    number INTEGER NOT NULL,  -- of the visit
    url TEXT NOT NULL,
    chances TEXT NOT NULL,  -- JSON array: probability of a goal by each member of the committee
    link_group TEXT NOT NULL,  -- links that stand alike: number of the page they stand on, and their region
    stake REAL NOT NULL,  -- reward that hangs on the answer
    PRIMARY KEY (run_id, site, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE review_answer (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,
    number INTEGER NOT NULL,
    url TEXT NOT NULL,
    link_group TEXT NOT NULL,
    answer TEXT NOT NULL,  -- Goal, Fail, another label, or empty for "cannot say"
    chance REAL NOT NULL,  -- what the committee had expected
    worth REAL NOT NULL,  -- of the question, when it was asked
    trail_id INTEGER,  -- the trail that the answer became
    at REAL NOT NULL
, after INTEGER) STRICT;
CREATE TABLE site_change (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site TEXT NOT NULL,
    lost TEXT NOT NULL,  -- JSON array: URLs of goals that would be none any more
    gained TEXT NOT NULL,  -- JSON array: URLs of visited pages that would be goals now
    PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed', 'stopped')),
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    sentence TEXT NOT NULL DEFAULT '',  -- what it does now, or how it ended
    pid INTEGER,
    began_at REAL NOT NULL,
    ended_at REAL
, process_start TEXT NOT NULL DEFAULT '', run_id INTEGER REFERENCES run(id)) STRICT;
CREATE TABLE topic_score (
    paper TEXT NOT NULL,
    topic TEXT NOT NULL,  -- names from the top, parted by the unit separator
    authority REAL NOT NULL,
    hub REAL NOT NULL,
    PRIMARY KEY (paper, topic)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER topic_score_inserted AFTER INSERT ON topic_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = NEW.paper;
END;
CREATE TRIGGER topic_score_deleted AFTER DELETE ON topic_score BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'paper' AND id = OLD.paper;
END;
CREATE TRIGGER cited_work_inserted AFTER INSERT ON citation
WHEN NEW.number > 0 AND (SELECT paper FROM citation_group WHERE id = NEW.group_id) IS NULL BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT 'cited-only', CAST(NEW.group_id AS TEXT), coalesce(max(change), 0) + 1 FROM record_change WHERE true
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER cited_work_deleted AFTER DELETE ON citation WHEN OLD.number > 0 BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'cited-only' AND id = CAST(OLD.group_id AS TEXT);
END;
CREATE TRIGGER cited_work_updated AFTER UPDATE OF group_id, fields ON citation WHEN NEW.number > 0 BEGIN
    UPDATE record_change SET change = (SELECT max(change) + 1 FROM record_change)
    WHERE kind = 'cited-only' AND id = CAST(OLD.group_id AS TEXT);
    INSERT INTO record_change (kind, id, change)
    SELECT 'cited-only', CAST(NEW.group_id AS TEXT), (SELECT coalesce(max(change), 0) + 1 FROM record_change)
    WHERE (SELECT paper FROM citation_group WHERE id = NEW.group_id) IS NULL
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER cited_work_held AFTER UPDATE OF paper ON citation_group
WHEN (OLD.paper IS NULL) <> (NEW.paper IS NULL) BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT 'cited-only', CAST(NEW.id AS TEXT), (SELECT coalesce(max(change), 0) + 1 FROM record_change)
    WHERE NEW.paper IS NULL
       OR EXISTS (SELECT 1 FROM record_change WHERE kind = 'cited-only' AND id = CAST(NEW.id AS TEXT))
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
CREATE INDEX site_start ON site (start);
CREATE INDEX visit_page ON visit (url, at) WHERE outcome IN ('ok', 'duplicate');
CREATE TABLE goal_page (
    id TEXT PRIMARY KEY,  -- of its record, from the digest of the URL
    url TEXT NOT NULL,
    state TEXT NOT NULL,  -- digest of all that the record was made from; equal means up to date
    first_seen REAL NOT NULL,  -- when a run first took the page for a goal
    made TEXT NOT NULL DEFAULT '[]'  -- JSON array of [kind, id]: records that extractors made from the page
) STRICT, WITHOUT ROWID;
CREATE INDEX visit_moved ON visit (url) WHERE outcome IN ('redirect', 'http_404', 'http_410');
CREATE INDEX visit_tier ON visit (url) WHERE tier <> '';
CREATE TABLE relationship (
    name TEXT PRIMARY KEY,
    source TEXT NOT NULL,  -- concepts
    target TEXT NOT NULL,
    label TEXT NOT NULL DEFAULT '',
    inverse TEXT NOT NULL DEFAULT '',
    rules TEXT NOT NULL DEFAULT '',  -- JSON; empty until learned
    learned_at REAL
) STRICT, WITHOUT ROWID;
CREATE TABLE chain_example (
    id INTEGER PRIMARY KEY,
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    chain TEXT NOT NULL,  -- JSON array of links
    wanted INTEGER NOT NULL,
    UNIQUE (relationship, chain)
) STRICT;
CREATE TABLE chain_instance (
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    chain TEXT NOT NULL,  -- JSON array of [page, position of the link, text of the link, target]
    PRIMARY KEY (relationship, source, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_instance_target ON chain_instance (target);
CREATE INDEX chain_instance_source ON chain_instance (source);
CREATE TABLE chain_source (
    relationship TEXT NOT NULL REFERENCES relationship (name) ON DELETE CASCADE,
    url TEXT NOT NULL,
    links INTEGER,  -- null: the page could not be read
    title TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (relationship, url)
) STRICT, WITHOUT ROWID;
CREATE TABLE chain_page (
    url TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_page (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,  -- of the description: the URL of a page, or the start page of a site
    site TEXT NOT NULL,
    domain TEXT NOT NULL DEFAULT '',  -- of a site that belongs to the thing itself
    run INTEGER,
    state TEXT NOT NULL, entity TEXT NOT NULL DEFAULT '',  -- digest of what it was made from; equal means up to date
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    number INTEGER NOT NULL,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    confidence REAL NOT NULL,
    url TEXT NOT NULL,
    start INTEGER NOT NULL,  -- in the visible text of the page
    end INTEGER NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (kind, key, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_correction (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    field TEXT NOT NULL,
    texts TEXT NOT NULL,  -- JSON array
    at REAL NOT NULL,
    PRIMARY KEY (kind, key, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_pair (
    kind TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    same INTEGER NOT NULL,
    PRIMARY KEY (kind, one, other)
) STRICT, WITHOUT ROWID;
CREATE TABLE fact_example (
    kind TEXT NOT NULL,
    url TEXT NOT NULL,
    field TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (kind, url, field, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE site_program (
    start TEXT NOT NULL,
    purpose TEXT NOT NULL,  -- what it leads to: the name of a model, or the words that were looked for
    program TEXT NOT NULL,
    edited INTEGER NOT NULL DEFAULT 0,  -- 1 if a person wrote it: forages then leave it as it is
    run_id INTEGER NOT NULL,  -- the run that it was learned from or edited after
    at REAL NOT NULL,
    PRIMARY KEY (start, purpose)
) STRICT, WITHOUT ROWID;
CREATE TABLE question (
    site_id INTEGER NOT NULL REFERENCES site(id),
    number INTEGER NOT NULL,  -- of the visit
    probability REAL NOT NULL,  -- of a goal, when it was asked
    asked_at REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'answered', 'skipped')),
    PRIMARY KEY (site_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX question_waiting ON question (asked_at) WHERE state = 'waiting';
CREATE TABLE complete_site (
    site TEXT PRIMARY KEY,  -- start URL, as trails have it
    goals TEXT NOT NULL,  -- JSON array of URLs
    at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE reservation (
    run_id INTEGER NOT NULL REFERENCES run(id),
    site_id INTEGER NOT NULL REFERENCES site(id),
    PRIMARY KEY (run_id, site_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_page_entity ON fact_page (kind, entity);
CREATE TABLE fact_reading (
    kind TEXT NOT NULL,
    extractor TEXT NOT NULL,
    url TEXT NOT NULL,
    digest TEXT NOT NULL,  -- of the page that was read; another page at the same address is read again
    facts TEXT NOT NULL,  -- JSON array
    seconds REAL NOT NULL,
    money REAL NOT NULL,
    PRIMARY KEY (kind, extractor, url)
) STRICT, WITHOUT ROWID;
CREATE TABLE document_text (
    document TEXT PRIMARY KEY,
    pages BLOB NOT NULL
) STRICT;
CREATE TRIGGER document_text_of_record AFTER DELETE ON record WHEN old.kind IN ('paper', 'document') BEGIN
    DELETE FROM document_text WHERE document = old.id;
END;
CREATE TABLE list_row (
    run_id INTEGER NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,
    start TEXT NOT NULL,  -- empty for a row without an address
    cells TEXT NOT NULL,  -- as JSON
    PRIMARY KEY (run_id, number)
) WITHOUT ROWID;
CREATE TABLE "tally" (
    run_id INTEGER NOT NULL REFERENCES run(id),
    outcome TEXT NOT NULL,
    slot INTEGER NOT NULL DEFAULT 0,  -- a worker adds to one: two would wait for each other at every visit
    visits INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    goals INTEGER NOT NULL,
    likely INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, outcome, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX site_held ON site (worker) WHERE state = 'leased';
INSERT INTO migration (number, name) VALUES (1, '0001_ground.sql');
INSERT INTO migration (number, name) VALUES (2, '0002_topics.sql');
INSERT INTO migration (number, name) VALUES (3, '0003_papers.sql');
INSERT INTO migration (number, name) VALUES (4, '0004_trails.sql');
INSERT INTO migration (number, name) VALUES (5, '0005_document_files.sql');
INSERT INTO migration (number, name) VALUES (6, '0006_changes.sql');
INSERT INTO migration (number, name) VALUES (7, '0007_submissions.sql');
INSERT INTO migration (number, name) VALUES (8, '0008_teaching.sql');
INSERT INTO migration (number, name) VALUES (9, '0009_review.sql');
INSERT INTO migration (number, name) VALUES (10, '0010_topic_scores.sql');
INSERT INTO migration (number, name) VALUES (11, '0011_cited_works.sql');
INSERT INTO migration (number, name) VALUES (12, '0012_robots_rules.sql');
INSERT INTO migration (number, name) VALUES (13, '0013_process_start.sql');
INSERT INTO migration (number, name) VALUES (14, '0014_site_start.sql');
INSERT INTO migration (number, name) VALUES (15, '0015_not_modified.sql');
INSERT INTO migration (number, name) VALUES (16, '0016_job_run.sql');
INSERT INTO migration (number, name) VALUES (17, '0017_goal_pages.sql');
INSERT INTO migration (number, name) VALUES (18, '0018_topic_correction_order.sql');
INSERT INTO migration (number, name) VALUES (19, '0019_tiers.sql');
INSERT INTO migration (number, name) VALUES (20, '0020_session_keywords.sql');
INSERT INTO migration (number, name) VALUES (21, '0021_chains.sql');
INSERT INTO migration (number, name) VALUES (22, '0022_facts.sql');
INSERT INTO migration (number, name) VALUES (23, '0023_site_notes.sql');
INSERT INTO migration (number, name) VALUES (24, '0024_complete_sites.sql');
INSERT INTO migration (number, name) VALUES (25, '0025_fences.sql');
INSERT INTO migration (number, name) VALUES (26, '0026_rendering.sql');
INSERT INTO migration (number, name) VALUES (27, '0027_site_lessons.sql');
INSERT INTO migration (number, name) VALUES (28, '0028_wanted_facts.sql');
INSERT INTO migration (number, name) VALUES (29, '0029_document_text.sql');
INSERT INTO migration (number, name) VALUES (30, '0030_pages_and_lists.sql');
INSERT INTO migration (number, name) VALUES (31, '0031_many_machines.sql');
INSERT INTO migration (number, name) VALUES (32, '0032_best_topics.sql');
