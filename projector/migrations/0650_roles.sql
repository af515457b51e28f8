-- The projector writes as a role that owns no table (docs/adr/0023-roles-of-the-database.md), so what makes and drops
-- partitions runs as the owner. It acts on generations of the read models only.
create or replace function traffic_partition(in_schema text, of_day date) returns void
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
