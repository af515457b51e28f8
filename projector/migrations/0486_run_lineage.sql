-- Which run a job repeats or was copied from, as its labels tell.
alter table runs add column retry_of text, add column clone_of text;
update runs r set retry_of = j.spec #>> '{metadata,labels,retry-of}', clone_of = j.spec #>> '{metadata,labels,clone-of}'
  from jobs j where j.run_id = r.run_id and j.spec #> '{metadata,labels}' ?| array['retry-of', 'clone-of'];
create index runs_repeating on runs (retry_of) where retry_of is not null;
create index runs_copied on runs (clone_of) where clone_of is not null;

create or replace view readable_runs as
  select * from runs
   where case when (select not row_security_active('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;
