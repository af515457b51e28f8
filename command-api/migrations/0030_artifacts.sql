-- One row for each artifact: a run registers a kind, path and step once, however often it says so.
create table artifact (
  artifact_id text   primary key,
  run_id      text   not null,
  kind        text   not null,
  path        text   not null,
  -- -1: none was given.
  step        bigint not null,
  format      text   not null,
  unique (run_id, kind, path, step)
);
