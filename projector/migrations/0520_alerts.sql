-- Read model behind /api/runs/{run_id}/alerts. Disposable: drop, recreate, replay.
create table alerts (
  alert_id    text        primary key,
  run_id      text        not null,
  attempt     integer,
  rule        text        not null,
  source      text        not null,
  kind        text        not null,
  level       text        not null,
  title       text        not null,
  text        text        not null,
  key         text,
  step        float8,
  value       float8,
  state       text        not null,      -- open, resolved, or noted: nothing resolves it
  fired_at    timestamptz not null,
  resolved_at timestamptz,
  resolution  text
) with (fillfactor = 80);
create index alerts_of_run on alerts (run_id, fired_at desc, alert_id desc);

-- Row-level security (0300_row_security.sql): whoever reads the run.
create policy readable on alerts for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = alerts.run_id) then true end is not null);
alter table alerts enable row level security;
