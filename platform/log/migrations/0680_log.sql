-- The event log where there is no Kafka. A lane is one partition of one topic. Its offsets have no gaps, because its row stays
-- locked until the transaction that took offsets has ended: whoever sees an offset sees all below it.
create table lane (
  lane         integer primary key generated always as identity,
  topic        text    not null,
  partition    integer not null,
  next_offset  bigint  not null default 0,
  -- The first offset that is not trimmed.
  first_offset bigint  not null default 0,
  -- Leaves of `record` exist up to this offset; a new one takes `leaf_records`.
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
-- The writer compresses where that pays: PostgreSQL need not try again. (In `create table` only since version 16.)
alter table record alter column value set storage external;

-- Tables of `record`, each a range of offsets of one lane: the unit that `trim` drops.
create table leaf (
  lane         integer not null references lane,
  first_offset bigint  not null,
  end_offset   bigint  not null,
  table_name   text    not null,
  primary key (lane, first_offset)
);

-- A server appends and trims as a role that owns no table (docs/adr/0023-roles-of-the-database.md): `add_leaf` and `drop_leaf`
-- run as the owner. Temporary tables come last in their search path, so that nobody can put their own in place of these.

-- Attaches the table instead of creating it in place, which would block readers and writers of other leaves. A value of a few
-- kilobytes, as of a decision, stays in the row: out of line it would cost two rows and an index more.
create function add_leaf(the_lane integer, from_offset bigint, to_offset bigint) returns void
language plpgsql security definer set search_path to log, pg_temp as $$
declare
  name text := format('record_%s_%s', the_lane, from_offset);
begin
  execute format('create table %I (like record including all) with (toast_tuple_target = 8160)', name);
  execute format('alter table record attach partition %I for values from (%s, %s) to (%s, %s)',
                 name, the_lane, from_offset, the_lane, to_offset);
  insert into leaf values (the_lane, from_offset, to_offset, name);
end $$;
revoke execute on function add_leaf(integer, bigint, bigint) from public;

-- Attaches the leaves that offsets already taken still need.
create function add_leaves(the_lanes integer[]) returns void
language plpgsql set search_path from current as $$
declare
  full_lane lane%rowtype;
begin
  for full_lane in select * from lane where lane = any(the_lanes) and leaf_end < next_offset order by lane loop
    while full_lane.leaf_end < full_lane.next_offset loop
      perform add_leaf(full_lane.lane, full_lane.leaf_end, full_lane.leaf_end + full_lane.leaf_records);
      full_lane.leaf_end := full_lane.leaf_end + full_lane.leaf_records;
    end loop;
    update lane set leaf_end = full_lane.leaf_end where lane = full_lane.lane;
  end loop;
end $$;

-- Appends records to several lanes in one round trip and returns the first offset of each lane. `lanes` ascends, so that two
-- processes cannot wait for each other. Record n goes to lane number `places[n]` (from 1), as the `nths[n]`-th there (from 0),
-- with `sizes[n]` bytes of `blob` from `starts[n]` (from 1) as value: an array of bytea would travel as text of twice the size.
--
-- Takes the offsets of all lanes before it attaches a leaf. Attaching locks `record` up to the commit, so a process that held
-- that lock and went on to the next lane could wait for one that held the lane and waited for the lock.
create function append(lanes integer[], counts integer[], places integer[], nths integer[], keys text[],
                       headers jsonb[], starts integer[], sizes integer[], blob bytea) returns bigint[]
language plpgsql set search_path from current as $$
declare
  bases bigint[] := '{}';
  taken lane%rowtype;
  is_full boolean := false;
begin
  for i in 1 .. cardinality(lanes) loop
    update lane set next_offset = next_offset + counts[i] where lane = lanes[i] returning * into strict taken;
    bases := bases || (taken.next_offset - counts[i]);
    is_full := is_full or taken.leaf_end < taken.next_offset;
  end loop;
  if is_full then
    perform add_leaves(lanes);
  end if;
  insert into record (lane, "offset", key, headers, value)
  select lanes[place], bases[place] + nth, the_key, the_headers, substring(blob from start for size)
    from unnest(places, nths, keys, headers, starts, sizes)
      as given(place, nth, the_key, the_headers, start, size);
  return bases;
end $$;

-- Drops a leaf whose records nobody needs. False if another process has done so. The table's name is computed, so that
-- no row can name another table.
create function drop_leaf(the_lane integer, from_offset bigint) returns boolean
language plpgsql security definer set search_path to log, pg_temp as $$
declare
  until bigint;
begin
  -- As in an append, lanes come before leaves; an append may hold any of them.
  perform from lane order by lane for update;
  delete from leaf where lane = the_lane and first_offset = from_offset returning end_offset into until;
  if until is null then
    return false;
  end if;
  execute format('drop table %I', format('record_%s_%s', the_lane, from_offset));
  update lane set first_offset = until where lane = the_lane;
  return true;
end $$;
revoke execute on function drop_leaf(integer, bigint) from public;
