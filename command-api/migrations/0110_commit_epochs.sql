-- The order of commits is that of transaction ids, which a dump keeps while the counter of the cluster it is restored
-- into may lie below them: events of before and after would mix. Each such restore begins another epoch, and the order is
-- (epoch, xid, position).
create table epoch (
  only_row boolean primary key default true check (only_row),
  number   integer not null
);
insert into epoch (number) values (1);

create function current_epoch() returns integer language sql stable
begin atomic
  select number from epoch;
end;

alter table event add column epoch integer not null default current_epoch();
alter table relay_cursor add column epoch integer not null default 1;
alter table audit_head add column epoch integer not null default 1;

drop index event_in_commit_order;
create index event_in_commit_order on event (epoch, xid, position);

-- An event that was written before the restore was noticed moves to the new epoch. Nothing else of it changes, and the
-- audit chain tells whoever uses this to change the order.
drop trigger event_is_kept on event;
create trigger event_is_kept
  before update of position, xid, event_id, stream, stream_version, type, schema_version, data, meta, occurred_at
      or delete or truncate on event
  for each statement execute function event_is_kept();
