-- Read model behind /api/usage and the figures of each job: the ledger. Disposable: drop, recreate, replay.
-- All that the bill of a job depends on (`Metered` in events/calculations/billing.ts).
create table usage_runs (
  run_id  text    primary key,
  owner   text    not null,
  project text    not null,
  metered jsonb   not null,
  is_open boolean not null  -- an attempt holds GPUs that are paid for
);
create index usage_open on usage_runs (owner) where is_open;

-- Rows are added and never changed: one with `sign` -1 takes an earlier one back. Amounts are signed.
create table usage_lines (
  run_id             text        not null,
  nth                integer     not null,  -- within the run
  owner              text        not null,
  project            text        not null,
  attempt            integer     not null,
  day                text        not null,  -- UTC, 2026-11-20
  starts_at          timestamptz not null,
  ends_at            timestamptz not null,
  sign               integer     not null check (sign in (1, -1)),
  price_per_gpu_hour text        not null,
  gpu_ms             numeric     not null,
  cost_micro         numeric     not null,  -- millionths of the currency
  primary key (run_id, nth)
);
create index usage_of_day on usage_lines (day);
create index usage_of_owner on usage_lines (owner, day);

create policy readable on usage_runs for select using (
  case when owner = (select caller()) or project in (select readable_projects()) then true end is not null);
create policy readable on usage_lines for select using (
  case when owner = (select caller()) or project in (select readable_projects()) then true end is not null);
alter table usage_runs enable row level security;
alter table usage_lines enable row level security;

-- Of the jobs that are there already, as their events tell it. Until now a job kept the price of its admission.
insert into usage_runs (run_id, owner, project, metered, is_open)
select j.run_id, j.owner, j.project,
       jsonb_build_object(
         'gpus', j.gpus,
         'rates', jsonb_build_array(jsonb_build_object('since', null, 'price_per_gpu_hour', j.price_per_gpu_hour::text)),
         'attempts', coalesce(a.attempts, '[]')),
       coalesce(a.is_open, false)
  from jobs j
  left join lateral (
    select jsonb_agg(jsonb_build_object('attempt', attempt, 'started_at', started_at, 'ended_at', ended_at)
                     order by attempt) as attempts,
           bool_or(started_at is not null and ended_at is null) as is_open
      from (select (data ->> 'attempt')::integer as attempt, min(data ->> 'started_at') as started_at,
                   max(data ->> 'ended_at') as ended_at
              from write.event
             where stream = 'job-' || j.run_id and type in ('job.running', 'job.exited') group by 1) marks) a on true;

insert into usage_lines (run_id, nth, owner, project, attempt, day, starts_at, ends_at, sign, price_per_gpu_hour,
                         gpu_ms, cost_micro)
select run_id, row_number() over (partition by run_id order by starts_at) - 1, owner, project, attempt,
       to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD'), starts_at, ends_at, 1, price, gpu_ms,
       -- The nearest whole number, of two equally near ones the even one.
       div(due, 3600000) + case when 2 * mod(due, 3600000) + mod(div(due, 3600000), 2) > 3600000 then 1 else 0 end
  from (select part.*, gpu_ms * trunc(price::numeric * 1000000) as due
          from (select i.*, greatest(started_at, midnight) as starts_at,
                       least(ended_at, midnight + interval '24 hours') as ends_at,
                       gpus * round(extract(epoch from least(ended_at, midnight + interval '24 hours')
                                                       - greatest(started_at, midnight)) * 1000) as gpu_ms
                  from (select u.run_id, u.owner, u.project, (u.metered ->> 'gpus')::numeric as gpus,
                               u.metered -> 'rates' -> 0 ->> 'price_per_gpu_hour' as price,
                               (a ->> 'attempt')::integer as attempt, (a ->> 'started_at')::timestamptz as started_at,
                               least((a ->> 'ended_at')::timestamptz,
                                     min((a ->> 'started_at')::timestamptz) over (
                                       partition by u.run_id order by (a ->> 'attempt')::integer
                                       rows between 1 following and unbounded following)) as ended_at,
                               a ->> 'ended_at' is not null as is_closed
                          from usage_runs u, jsonb_array_elements(u.metered -> 'attempts') a
                         where a ->> 'started_at' is not null) i,
               generate_series(date_trunc('day', i.started_at, 'UTC'), i.ended_at, interval '24 hours') as midnight
                 where i.is_closed and i.ended_at > i.started_at) part
         where ends_at > starts_at) lines;

alter table jobs drop column gpu_seconds;
alter table job_attempts drop column gpu_seconds;
