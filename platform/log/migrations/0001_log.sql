-- The event log where there is no Kafka. A lane is one partition of one topic; its offsets are dense
-- because the counter row stays locked until the transaction that took them has ended: who sees an
-- offset sees all below it.
create table lane (
  lane         integer primary key generated always as identity,
  topic        text    not null,
  partition    integer not null,
  next_offset  bigint  not null default 0,
  -- The first offset not yet trimmed away.
  first_offset bigint  not null default 0,
  -- Up to where leaves of `record` exist, and how many offsets a new one takes.
  leaf_end     bigint  not null default 0,
  leaf_records bigint  not null check (leaf_records > 0),
  unique (topic, partition)
) with (fillfactor = 50);

create table record (
  lane        integer     not null,
  "offset"    bigint      not null,
  key         text        not null,
  headers     jsonb,
  value       bytea       not null,
  appended_at timestamptz not null default now(),
  primary key (lane, "offset")
) partition by range (lane, "offset");
-- Compressed by whoever wrote it where that pays: PostgreSQL shall not try again. (In the column itself: only since 16.)
alter table record alter column value set storage external;

-- Tables of `record`, each a range of offsets of one lane: what `trim` drops.
create table leaf (
  lane         integer not null references lane,
  first_offset bigint  not null,
  end_offset   bigint  not null,
  table_name   text    not null,
  primary key (lane, first_offset)
);

-- Attached and not created in place: only that way are readers and writers of other leaves not held up.
create function add_leaf(the_lane integer, from_offset bigint, to_offset bigint) returns void
language plpgsql set search_path from current as $$
declare
  name text := format('record_%s_%s', the_lane, from_offset);
begin
  execute format('create table %I (like record including all)', name);
  execute format('alter table record attach partition %I for values from (%s, %s) to (%s, %s)',
                 name, the_lane, from_offset, the_lane, to_offset);
  insert into leaf values (the_lane, from_offset, to_offset, name);
end $$;

-- Takes `count` offsets of a lane; answers the first of them.
create function take_offsets(the_lane integer, count integer) returns bigint
language plpgsql set search_path from current as $$
declare
  taken lane%rowtype;
begin
  update lane set next_offset = next_offset + count where lane = the_lane returning * into strict taken;
  while taken.leaf_end < taken.next_offset loop
    perform add_leaf(the_lane, taken.leaf_end, taken.leaf_end + taken.leaf_records);
    update lane set leaf_end = leaf_end + leaf_records where lane = the_lane returning * into taken;
  end loop;
  return taken.next_offset - count;
end $$;

-- Appends records of several lanes in one round trip; answers the first offset of each lane.
-- `lanes` ascends, so that two processes cannot wait for each other; records stand in lane order.
-- The values come as one `blob`: an array of bytea would travel as text of twice the size.
create function append(lanes integer[], counts integer[], keys text[], headers jsonb[],
                       sizes integer[], blob bytea) returns bigint[]
language plpgsql set search_path from current as $$
declare
  bases bigint[] := '{}';
begin
  for i in 1 .. cardinality(lanes) loop
    bases := bases || take_offsets(lanes[i], counts[i]);
  end loop;
  insert into record (lane, "offset", key, headers, value)
  select lanes[at.i], bases[at.i] + at.nth, keys[at.n], headers[at.n],
         substring(blob from at.start::integer for sizes[at.n])
    from (
      select n, i, n - 1 - before.records as nth,
             1 + sum(sizes[n]) over (order by n) - sizes[n] as start
        from (select i, coalesce(sum(counts[i]) over (order by i rows between unbounded preceding and 1 preceding), 0)::integer as records
                from generate_series(1, cardinality(lanes)) as i) as before,
             lateral generate_series(records + 1, records + counts[i]) as n
    ) as at;
  return bases;
end $$;
