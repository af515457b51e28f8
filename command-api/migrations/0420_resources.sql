-- Every thing that has an owner or is used, whichever slice it belongs to, and what uses what: kept by `commit` from the kinds
-- that slices declare (command-api/kind.ts), in the transaction of the events. Nothing here expires with its slice's own rows.
create table resource (
  kind        text not null,
  id          text not null,
  name        text, -- what people call it; null: its id
  owner       text,
  project     text,
  visibility  text,
  within_kind text, -- the thing that it is purged with
  within_id   text,
  deleted_at  timestamptz,
  primary key (kind, id)
);
create index resource_within on resource (within_kind, within_id) where within_id is not null;

create table use (
  used_kind text not null,
  used_id   text not null,
  user_kind text not null,
  user_id   text not null,
  used_as   text not null, -- in which way; tells several uses of one thing by another apart
  since     timestamptz not null,
  until     timestamptz,
  primary key (used_kind, used_id, user_kind, user_id, used_as)
);
create index use_by_user on use (user_kind, user_id, used_as);

insert into resource (kind, id, name, owner, project, visibility)
select 'project', name, name, owner, name, visibility from project;
insert into resource (kind, id, name, owner, project, deleted_at)
select 'run', run_id, short_id, owner, project, deleted_at from run_state;
insert into resource (kind, id, owner, project, within_kind, within_id, deleted_at)
select 'artifact', a.artifact_id, r.owner, r.project, 'run', a.run_id, a.deleted_at
  from artifact a join run_state r using (run_id);
insert into resource (kind, id, name, owner, project, deleted_at)
select 'model', name, name, owner, project, deleted_at from model;
insert into resource (kind, id, name, owner, project, deleted_at)
select 'deployment', d.deployment_id, d.name, d.owner, d.project,
       case when d.state in ('deleting', 'deleted') then now() end
  from deployment_state d;
insert into resource (kind, id, owner, visibility)
select distinct on (stream) 'rubric', substr(stream, length('rubric-') + 1), data ->> 'owner', data ->> 'visibility'
  from event where type = 'rubric.updated' order by stream, stream_version desc;
insert into resource (kind, id, owner) select 'upload', upload_id, owner from upload;

insert into use (used_kind, used_id, user_kind, user_id, used_as, since)
select 'artifact', init_from, 'run', run_id, 'init_from', admitted_at from job_state where init_from is not null and serving is null
union all
select 'artifact', artifact_id, 'model', model, version::text, now() from model_version
union all
select 'upload', upload_id, 'artifact', artifact_id, 'content', now() from artifact where upload_id is not null;
insert into use (used_kind, used_id, user_kind, user_id, used_as, since, until)
select 'run', j.run_id, 'run', j.run_id, 'checkpoints', j.admitted_at, r.ended_at
  from job_state j join run_state r using (run_id)
union all
select 'artifact', source ->> 'artifact_id', 'deployment', deployment_id, revision_id, created_at,
       case when state in ('failed', 'retired') then now() end
  from revision_state where source ->> 'artifact_id' is not null
union all
select 'upload', j.upload_id, 'run', j.run_id, 'package', j.admitted_at, r.ended_at
  from job_state j join run_state r using (run_id) where j.upload_id is not null
union all
select 'artifact', j.resume_from, 'run', j.run_id, 'resume', j.admitted_at, r.ended_at
  from job_state j join run_state r using (run_id) where j.resume_from is not null
union all
select 'run', retry_of, 'run', run_id, 'retry', admitted_at, null from job_state where retry_of is not null
union all
select 'run', clone_of, 'run', run_id, 'clone', admitted_at, null from job_state where clone_of is not null;
-- A purged run uses nothing.
delete from use u using event e
 where e.type = 'run.purged' and e.stream = 'run-' || u.user_id and u.user_kind = 'run';
