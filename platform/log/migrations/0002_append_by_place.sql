-- `append` as before, but the caller says where each record belongs instead of the server working it out with
-- window functions: a quarter to a third less of the server's time a commit.
drop function append(integer[], integer[], text[], jsonb[], integer[], bytea);

-- Appends records of several lanes in one round trip; answers the first offset of each lane.
-- `lanes` ascends, so that two processes cannot wait for each other. Record n goes to lane number
-- `places[n]` (from 1), as the `nths[n]`-th there (from 0), with `sizes[n]` bytes of `blob` from
-- `starts[n]` (from 1) as value: an array of bytea would travel as text of twice the size.
create function append(lanes integer[], counts integer[], places integer[], nths integer[], keys text[],
                       headers jsonb[], starts integer[], sizes integer[], blob bytea) returns bigint[]
language plpgsql set search_path from current as $$
declare
  bases bigint[] := '{}';
begin
  for i in 1 .. cardinality(lanes) loop
    bases := bases || take_offsets(lanes[i], counts[i]);
  end loop;
  insert into record (lane, "offset", key, headers, value)
  select lanes[place], bases[place] + nth, the_key, the_headers, substring(blob from start for size)
    from unnest(places, nths, keys, headers, starts, sizes)
      as given(place, nth, the_key, the_headers, start, size);
  return bases;
end $$;
