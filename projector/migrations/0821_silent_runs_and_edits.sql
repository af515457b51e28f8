-- When an unfinished run without a job was last heard from, if it has been silent since.
alter table runs add column silent_since timestamptz;

create or replace view readable_runs as
  select * from runs
   where deleted_at is null
     and case when (select reads_all('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;

-- Streams also show that a run was renamed, tagged and the like, in order with its states. Such a row repeats the state, and holds
-- what changed.
alter table state_changes add column edit jsonb;
