-- What `GET /api/audit` asks by. The order is that of the time shown, so that `since` and `until` are a range of
-- every one of these; the position makes it total. Events of one stream are found by its unique index.
create index event_by_time on event (occurred_at, position);
create index event_by_type on event (type, occurred_at, position);
-- `job.*`
create index event_by_family on event (split_part(type, '.', 1), occurred_at, position);
create index event_by_actor on event ((meta #>> '{actor,id}'), occurred_at, position);
create index event_by_request on event ((meta ->> 'request_id'), occurred_at, position);

-- Events are never changed and never go away; who must do so all the same has to switch this off first, and the
-- audit chain still tells.
create function event_is_kept() returns trigger language plpgsql as $$
begin
  raise exception '% of write.%: what was recorded is kept as it is', tg_op, tg_table_name
    using errcode = 'restrict_violation';
end $$;
create trigger event_is_kept before update or delete or truncate on event
  for each statement execute function event_is_kept();
