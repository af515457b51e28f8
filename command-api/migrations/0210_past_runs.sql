-- GPU time of the jobs that succeeded, for the estimate of those that follow.
create table past_run (
  run_id   text        primary key,
  recipe   text        not null,
  -- `1.4` of the version 1.4.2.
  line     text        not null,
  gpu_ms   bigint      not null,
  ended_at timestamptz not null
);
create index past_run_of_recipe on past_run (recipe, line, ended_at desc);
