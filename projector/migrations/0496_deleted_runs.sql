-- Deleted runs stay until they can no longer be restored. Neither single reads (findRun) nor lists show them.
alter table runs add column deleted_at timestamptz;
create index runs_deleted on runs (run_id) where deleted_at is not null;

create or replace view readable_runs as
  select * from runs
   where deleted_at is null
     and case when (select not row_security_active('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;
