-- Works that are cited and not held have changes as records have, so that they can be searched for as well. They go
-- by the kind `cited-only` and the number of their group.

INSERT INTO record_change (kind, id, change)
SELECT 'cited-only', CAST(id AS TEXT),
       (SELECT coalesce(max(change), 0) FROM record_change) + row_number() OVER (ORDER BY id)
FROM citation_group WHERE paper IS NULL;

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

-- A work that comes to be held is a paper from then on; one whose paper goes is only cited again.
CREATE TRIGGER cited_work_held AFTER UPDATE OF paper ON citation_group
WHEN (OLD.paper IS NULL) <> (NEW.paper IS NULL) BEGIN
    INSERT INTO record_change (kind, id, change)
    SELECT 'cited-only', CAST(NEW.id AS TEXT), (SELECT coalesce(max(change), 0) + 1 FROM record_change)
    WHERE NEW.paper IS NULL
       OR EXISTS (SELECT 1 FROM record_change WHERE kind = 'cited-only' AND id = CAST(NEW.id AS TEXT))
    ON CONFLICT (kind, id) DO UPDATE SET change = excluded.change;
END;
