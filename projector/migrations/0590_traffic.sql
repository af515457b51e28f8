-- Requests to deployments. A partition for each day (UTC), so that old ones can be dropped; a projection makes those it
-- writes to.
create table traffic (
  day               date        not null,
  request_id        text        not null,
  deployment_id     text        not null,
  revision_id       text,
  token_id          text        not null,
  method            text        not null,
  path              text        not null,
  model             text,
  stream            boolean     not null,
  status            integer     not null,
  error_source      text,
  started_at        timestamptz not null,
  ttft_ms           float8,
  duration_ms       float8      not null,
  request_bytes     bigint      not null,
  response_bytes    bigint      not null,
  prompt_tokens     bigint,
  completion_tokens bigint,
  usage_source      text        not null,
  aborted           boolean     not null,
  client_ip         text        not null,
  user_agent        text,
  primary key (day, request_id)
) partition by range (day);
create index traffic_of_deployment on traffic (deployment_id, started_at desc, request_id desc);

-- What remains for ever; a request counts when its row is inserted, so once.
create table traffic_daily (
  deployment_id     text        not null,
  day               date        not null,
  token_id          text        not null,
  -- Empty if none was promoted.
  revision_id       text        not null,
  requests          bigint      not null,
  errors            bigint      not null,
  aborted           bigint      not null,
  prompt_tokens     bigint      not null,
  completion_tokens bigint      not null,
  request_bytes     bigint      not null,
  response_bytes    bigint      not null,
  last_at           timestamptz not null,
  primary key (deployment_id, day, token_id, revision_id)
);

-- The deployments with requests. `run_id`, as in all topics of facts, is what a record is about: here a deployment.
create table traffic_deployments (
  run_id       text   primary key,
  first_offset bigint not null
);

-- Makes the partition of a day unless there is one. Attached, so that readers are not kept out meanwhile. It has
-- row-level security without a policy: only the whole table can be read.
create function traffic_partition(in_schema text, of_day date) returns void language plpgsql as $$
declare
  part text := 'traffic_' || to_char(of_day, 'YYYYMMDD');
begin
  if to_regclass(format('%I.%I', in_schema, part)) is not null then
    return;
  end if;
  execute format('create table %1$I.%2$I (like %1$I.traffic including all)', in_schema, part);
  execute format('alter table %I.%I enable row level security', in_schema, part);
  execute format('alter table %1$I.traffic attach partition %1$I.%2$I for values from (%3$L) to (%4$L)',
                 in_schema, part, of_day, of_day + 1);
end $$;

-- Whoever reads the deployment; asked once for a query, not for each row.
create policy readable on traffic for select using (
  deployment_id in (select d.deployment_id from deployments d));
create policy readable on traffic_daily for select using (
  deployment_id in (select d.deployment_id from deployments d));
create policy readable on traffic_deployments for select using (
  run_id in (select d.deployment_id from deployments d));
alter table traffic enable row level security;
alter table traffic_daily enable row level security;
alter table traffic_deployments enable row level security;
