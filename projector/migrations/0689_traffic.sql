-- Requests to deployments. A partition for each day (UTC), so that old ones can be dropped; a projection creates those it
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

-- Kept forever; a request is counted when its row is inserted, so once.
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

-- Whoever reads the deployment; asked once for a query, not for each row.
select readable_if('deployment_id in (select d.deployment_id from deployments d)', 'traffic', 'traffic_daily');
select readable_if('run_id in (select d.deployment_id from deployments d)', 'traffic_deployments');

-- The projector writes as a role that owns no table (docs/adr/0023-roles-of-the-database.md), so what creates and drops
-- partitions runs as the owner. It acts on generations of the read models only.

-- Creates the partition of a day unless there is one. Attached, so that readers are not blocked meanwhile. It has row-level
-- security without a policy: only the whole table can be read.
create function traffic_partition(in_schema text, of_day date) returns void
language plpgsql security definer set search_path to pg_catalog, pg_temp as $$
declare
  part text := 'traffic_' || to_char(of_day, 'YYYYMMDD');
begin
  if in_schema not in ('read', 'read_next') then
    raise exception '% is no generation of the read models', in_schema;
  end if;
  if to_regclass(format('%I.%I', in_schema, part)) is not null then
    return;
  end if;
  execute format('create table %1$I.%2$I (like %1$I.traffic including all)', in_schema, part);
  execute format('alter table %I.%I enable row level security', in_schema, part);
  execute format('alter table %1$I.traffic attach partition %1$I.%2$I for values from (%3$L) to (%4$L)',
                 in_schema, part, of_day, of_day + 1);
end $$;
revoke execute on function traffic_partition(text, date) from public;

-- Drops a partition of `traffic`, and nothing else.
create function drop_traffic_partition(in_schema text, part text) returns void
language plpgsql security definer set search_path to pg_catalog, pg_temp as $$
begin
  if in_schema not in ('read', 'read_next') then
    raise exception '% is no generation of the read models', in_schema;
  end if;
  if exists (select from pg_inherits where inhparent = to_regclass(format('%I.traffic', in_schema))
                                       and inhrelid = to_regclass(format('%I.%I', in_schema, part))) then
    execute format('drop table %I.%I', in_schema, part);
  end if;
end $$;
revoke execute on function drop_traffic_partition(text, text) from public;
