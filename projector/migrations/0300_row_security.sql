-- The second wall (docs/adr/0009-row-level-security.md): what a person may read, said once more where the rows are. It
-- stands for the role forge_reader, under which queries for people run; the owner of the tables passes it, so the
-- projector, the compactor and a rebuild see everything. Nobody else may read any of this.
--
-- Policies compare with settings of the session: forge.username; forge.runs, runs whose rows are about to be read,
-- so that they are judged once and not row by row; forge.shared, on where those very runs are read for several
-- people at once, none of whom is named.

create function caller() returns text language sql stable
  return nullif(current_setting('forge.username', true), '');

-- Owned by who passes the wall, or the tables it looks at would ask it in turn. Told to be cheap: it runs once a
-- query, while the planner would count it for each row.
create function readable_projects() returns setof text
language sql stable security definer cost 1 rows 1
begin atomic
  select name from projects
   where owner = caller() or (visibility = 'internal' and caller() is not null)
  union
  select project from project_members where username = caller();
end;

create function asked_runs() returns text[] language sql stable security definer
begin atomic
  select array(
    select run_id from runs
     where run_id = any (string_to_array(nullif(current_setting('forge.runs', true), ''), ','))
       and (current_setting('forge.shared', true) = 'on'
            or owner = caller() or project in (select readable_projects())));
end;

create function asked_run_nos() returns integer[] language sql stable security definer
begin atomic
  select array(select run_no from metric_run where run_id = any (asked_runs()));
end;

-- Of what nobody owns: these tell numbers about everybody's rows, and nothing else of them.
create function newest_change() returns bigint language sql stable security definer
begin atomic
  select coalesce(max(change), 0) from state_changes;
end;

create function queue_places(run_ids text[])
returns table (run_id text, "position" bigint, ahead_gpus bigint) language sql stable security definer
begin atomic
  select queue.run_id, queue.place, queue.ahead
    from (select j.run_id, row_number() over line as place,
                 coalesce(sum(j.gpus) over (line rows between unbounded preceding and 1 preceding), 0) as ahead
            from jobs j where j.state = 'queued'
          window line as (order by j.priority desc, j.submitted_at, j.run_id)) queue
   where queue.run_id = any (run_ids);
end;

-- Each condition stands in `case … end is not null`, which the planner takes to be true of nearly every row. And so
-- it is: the query's own filter has picked the readable ones. Without, it would expect half of the rows to go, and
-- sort thousands where it need only walk along an index until a page is full.

create policy readable on projects for select using (name in (select readable_projects()));
create policy readable on project_members for select using (project in (select readable_projects()));

create policy readable on rubrics for select using (
  owner = (select caller()) or (visibility = 'public' and (select caller()) is not null));

create policy readable on quotas for select using (username = (select caller()));

create policy readable on runs for select using (
  case when owner = (select caller()) or project in (select readable_projects()) then true end is not null);

create policy readable on jobs for select using (
  case when owner = (select caller()) or project in (select readable_projects()) then true end is not null);

create policy readable on state_changes for select using (
  case when run_id = any ((select asked_runs())::text[])
         or owner = (select caller()) or project in (select readable_projects()) then true end is not null);

-- Names of metrics are shared by all runs; which run has which is not told here.
create policy readable on metric_name for select using (true);

-- What belongs to a run is read by who may read the run. The scalar subquery is never hashed: it asks for single
-- rows, where `exists` would first gather every run there is.
do $$
declare t text;
begin
  foreach t in array array['job_attempts', 'run_hparams', 'artifacts', 'log_runs', 'log_chunks', 'log_sources',
                           'metric_run']
  loop
    execute format(
      'create policy readable on %1$I for select using (
         case when run_id = any ((select asked_runs())::text[])
                or (select true from runs where runs.run_id = %1$I.run_id) then true end is not null)', t);
  end loop;
  foreach t in array array['metric_block', 'metric_chunk', 'metric_latest', 'metric_settled']
  loop
    execute format(
      'create policy readable on %1$I for select using (
         case when run_no = any ((select asked_run_nos())::integer[])
                or (select true from metric_run where metric_run.run_no = %1$I.run_no) then true end is not null)', t);
  end loop;
  foreach t in array array['projects', 'project_members', 'rubrics', 'quotas', 'runs', 'jobs', 'state_changes',
                           'metric_name', 'job_attempts', 'run_hparams', 'artifacts', 'log_runs', 'log_chunks',
                           'log_sources', 'metric_run', 'metric_block', 'metric_chunk', 'metric_latest',
                           'metric_settled']
  loop
    execute format('alter table %I enable row level security', t);
  end loop;
end $$;

-- A view is read as its owner, past the wall, unless it says otherwise.
alter view metric_summary set (security_invoker = true);

-- Lists of runs read through these, which carry the wall themselves: under a policy PostgreSQL uses no index whose
-- operator might leak (tags, what runs began from), and would judge a run anew for each of its metrics.
create view readable_runs as
  select * from runs
   where case when (select not row_security_active('runs'::regclass))
                or owner = (select caller()) or project in (select readable_projects()) then true end is not null;

create view settled_of_runs as
  select m.run_id, s.* from metric_settled s join metric_run m using (run_no) join readable_runs using (run_id);

create view latest_of_runs as
  select m.run_id, s.* from metric_latest s join metric_run m using (run_no) join readable_runs using (run_id);
