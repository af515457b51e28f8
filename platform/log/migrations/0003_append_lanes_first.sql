-- Takes the offsets of all lanes before it attaches a leaf. Attaching locks `record` up to the commit, so whoever
-- held that lock and went on to the next lane could wait for a process that held the lane and waited for the lock.
create or replace function append(lanes integer[], counts integer[], places integer[], nths integer[], keys text[],
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

-- Attaches the leaves that offsets which are taken already still need.
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

drop function take_offsets(integer, integer);
