-- Which process does a job: numbers of processes are given again after a crash.

ALTER TABLE job ADD COLUMN process_start TEXT NOT NULL DEFAULT '';
