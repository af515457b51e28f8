-- Read models behind /api/deployments. Disposable: drop, recreate, replay.
create table deployments (
  deployment_id        text        primary key,
  name                 text        not null,
  owner                text        not null,
  project              text        not null,
  team                 text,
  state                text        not null,
  state_reason         text,
  promoted_revision_id text,
  previous_revision_id text,
  min_replicas         integer     not null,
  max_replicas         integer     not null,
  max_body_bytes       bigint      not null,
  timeout_s            integer     not null,
  max_concurrency      integer     not null,
  created_at           timestamptz not null,
  updated_at           timestamptz not null,
  suspended_at         timestamptz,
  suspended_by         text,
  -- When engines are added or removed, and when a deployment is suspended for lack of requests.
  target               integer     not null default 16,
  up_window_s          integer     not null default 30,
  down_window_s        integer     not null default 600,
  idle_suspend_s       integer
);
create index deployments_newest on deployments (created_at desc, deployment_id desc);
create index deployments_of_project on deployments (project, created_at desc);

create table deployment_revisions (
  revision_id   text        primary key,
  deployment_id text        not null,
  number        integer     not null,
  state         text        not null,
  state_reason  text,
  source        jsonb       not null,
  serving       jsonb       not null,
  checks        jsonb       not null,
  load_s        float8,
  ready_at      timestamptz,
  created_by    text        not null,
  created_at    timestamptz not null
);
create unique index revisions_of_deployment on deployment_revisions (deployment_id, number desc);
-- Which artifacts are served: what protects them, and their lineage; and the lineage of runs.
create index revisions_of_artifact on deployment_revisions ((source ->> 'artifact_id'));
create index revisions_of_run on deployment_revisions ((source ->> 'run_id'));

create table deployment_promotions (
  deployment_id        text        not null,
  -- 1, 2, … within the deployment.
  nth                  integer     not null,
  at                   timestamptz not null,
  kind                 text        not null,
  revision_id          text        not null,
  previous_revision_id text,
  actor                text        not null,
  reason               text        not null,
  primary key (deployment_id, nth)
);

-- What may be shown of tokens; their hashes are in auth.deployment_token.
create table deployment_tokens (
  token_id      text        primary key,
  deployment_id text        not null,
  name          text        not null,
  note          text        not null,
  created_by    text        not null,
  created_at    timestamptz not null,
  revoked_at    timestamptz
);
create index tokens_of_deployment on deployment_tokens (deployment_id, created_at desc);

select readable_with_project('deployments');
select readable_where('(select true from deployments d where d.deployment_id = <table>.deployment_id)',
                      'deployment_revisions', 'deployment_promotions', 'deployment_tokens');
