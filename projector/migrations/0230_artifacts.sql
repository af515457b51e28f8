-- Read model behind /api/runs/{run_id}/artifacts. Disposable: drop, recreate, replay.
create table artifacts (
  artifact_id   text        primary key,
  run_id        text        not null,
  kind          text        not null,
  path          text        not null,
  format        text        not null,
  step          bigint,
  size_bytes    bigint,
  sha256        text,
  metrics       jsonb       not null,
  attempt       integer,
  status        text        not null,
  created_at    timestamptz not null,
  registered_by text        not null
);
create index artifacts_of_run on artifacts (run_id, step desc nulls last, created_at desc);
