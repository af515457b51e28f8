-- A server appends and trims as a role that owns no table (docs/adr/0023-roles-of-the-database.md). These two run as the
-- owner. Temporary tables come last, so that nobody can put their own in place of these.
alter function add_leaf(integer, bigint, bigint) security definer set search_path to log, pg_temp;
revoke execute on function add_leaf(integer, bigint, bigint) from public;

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
