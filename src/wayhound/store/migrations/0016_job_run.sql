-- The run that a job works on. Earlier versions wrote it into the sentence alone: "Run 7: 3 goals on 12 pages".

ALTER TABLE job ADD COLUMN run_id INTEGER REFERENCES run(id);

UPDATE job SET run_id = (
    SELECT run.id FROM run WHERE job.kind = 'forage' AND job.sentence LIKE 'Run ' || run.id || ':%'
);
