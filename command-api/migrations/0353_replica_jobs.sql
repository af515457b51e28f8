-- Where the engine of a replica that Forge runs listens; and how often engines of a revision have ended by themselves, and when the
-- next one may be started.
alter table replica add column port integer;
alter table revision_state
  add column restarts integer not null default 0,
  add column next_start_at timestamptz not null default '-infinity';
