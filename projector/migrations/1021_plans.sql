-- Read models behind /api/plans. Disposable: drop, recreate, replay.
create table plans (
  plan_id      text        primary key,
  name         text        not null,
  owner        text        not null,
  project      text        not null,
  digest       text        not null,
  state        text        not null,
  reason       text,
  moved        jsonb       not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  submitted_by text,
  submitted_at timestamptz,
  updated_at   timestamptz not null
);
create index plans_newest on plans (created_at desc, plan_id);
create index plans_of_project on plans (project, created_at desc);

create table plan_stages (
  plan_id       text    not null,
  nth           integer not null,
  name          text    not null,
  kind          text    not null,
  planned       jsonb   not null,
  looked        jsonb   not null,
  state         text    not null,
  reason        text,
  deployment_id text,
  best_run_id   text,
  primary key (plan_id, nth)
);

create table plan_runs (
  plan_id  text    not null,
  stage    text    not null,
  n        integer not null,
  run_id   text    not null,
  params   jsonb   not null,
  -- Null until it has ended.
  state    text,
  reason   text,
  ended_at timestamptz,
  primary key (plan_id, stage, n)
);
create index plan_runs_by_run on plan_runs (run_id);

select readable_with_project('plans');
select readable_where('(select true from plans p where p.plan_id = <table>.plan_id)', 'plan_stages', 'plan_runs');
