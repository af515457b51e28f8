-- Registrations of artifacts, repeated ones with other facts included: each is an event, which is kept for ever.
alter table run_state add column artifact_registrations integer not null default 0;
update run_state r set artifact_registrations = a.registrations
  from (select run_id, count(*) as registrations from artifact group by run_id) a where a.run_id = r.run_id;
