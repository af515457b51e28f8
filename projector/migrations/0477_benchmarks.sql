-- Read model behind /api/runs/{run_id}/benchmarks: every result that was ever recorded. The newest revision of a result
-- is the one that counts, the others are its history.
create table run_benchmarks (
  run_id      text        not null,
  result_id   text        not null,
  revision    integer     not null,  -- of the event, in the stream of the run's benchmarks
  benchmark   text        not null,
  recorded_at timestamptz not null,
  result      jsonb       not null,
  primary key (run_id, result_id, revision)
);

create policy readable on run_benchmarks for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_benchmarks.run_id) then true end is not null);
alter table run_benchmarks enable row level security;
