-- Deleted runs are removed some day, also those with the newest state changes, whose numbers must not be given again.
create table last_change (change bigint not null);
insert into last_change select coalesce(max(change), 0) from state_changes;

create or replace function newest_change() returns bigint language sql stable security definer
begin atomic
  select change from last_change;
end;

-- Why a deleted run stays although it can no longer be restored: so many jobs refer to it.
alter table runs add column kept_for integer not null default 0;

-- The view names its columns once and for all.
create or replace view readable_runs as
  select * from runs
   where deleted_at is null
     and case when (select not row_security_active('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;
