-- How many bytes the captured requests of each deployment have, so that the oldest make room for new ones (docs/use/reflow.md).
create table captured_size (
  deployment_id text        primary key,
  bytes         bigint      not null,
  -- What made room for newer ones.
  evicted       bigint      not null default 0,
  evicted_at    timestamptz
);

insert into captured_size (deployment_id, bytes)
select deployment_id, sum(octet_length(sealed)) from captured_request group by deployment_id;

-- Triggers, so that nothing that adds or removes captured requests can forget it.
create function captured_added() returns trigger language plpgsql as $$
begin
  insert into write.captured_size as s (deployment_id, bytes)
  select deployment_id, sum(octet_length(sealed)) from changed group by deployment_id order by deployment_id
  on conflict (deployment_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end $$;
create trigger captured_added after insert on captured_request
  referencing new table as changed for each statement execute function captured_added();

create function captured_removed() returns trigger language plpgsql as $$
begin
  insert into write.captured_size as s (deployment_id, bytes)
  select deployment_id, -sum(octet_length(sealed)) from changed group by deployment_id order by deployment_id
  on conflict (deployment_id) do update set bytes = s.bytes + excluded.bytes;
  return null;
end $$;
create trigger captured_removed after delete on captured_request
  referencing old table as changed for each statement execute function captured_removed();
