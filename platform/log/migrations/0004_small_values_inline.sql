-- A value of a few kilobytes, as a decision's is, stands in the row: out of line it costs two rows and an index more.
create or replace function add_leaf(the_lane integer, from_offset bigint, to_offset bigint) returns void
language plpgsql set search_path from current as $$
declare
  name text := format('record_%s_%s', the_lane, from_offset);
begin
  execute format('create table %I (like record including all) with (toast_tuple_target = 8160)', name);
  execute format('alter table record attach partition %I for values from (%s, %s) to (%s, %s)',
                 name, the_lane, from_offset, the_lane, to_offset);
  insert into leaf values (the_lane, from_offset, to_offset, name);
end $$;

do $$
declare
  name text;
begin
  for name in select table_name from leaf loop
    execute format('alter table %I set (toast_tuple_target = 8160)', name);
  end loop;
end $$;
