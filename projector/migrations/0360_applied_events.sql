-- Every decision that was applied. The relay may publish one twice; a different one under a version that was applied
-- before means that the database was restored behind the log, and must not pass for a repeat.
create table applied_event (
  event_id uuid primary key
);
insert into applied_event (event_id)
select e.event_id from write.event e join stream_head h on h.stream = e.stream and e.stream_version <= h.version;
