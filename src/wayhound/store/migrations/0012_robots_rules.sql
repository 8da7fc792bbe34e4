-- What a fetched page asks of robots.

ALTER TABLE visit ADD COLUMN robots TEXT NOT NULL DEFAULT '';  -- noindex, nofollow, both with a space, or nothing
