-- One row a change instead of all of a run in one value, which grew without a bound and was written anew by each change.
create table run_hparam_changes (
  run_id  text        not null,
  version integer     not null,  -- of the event, in the stream of the run's hyperparameters
  place   integer     not null,  -- within the event
  key     text        not null,
  "from"  jsonb       not null,
  "to"    jsonb       not null,
  at      timestamptz not null,
  primary key (run_id, version, place)
);
-- Versions of what was kept until now are unknown; that they ascend is enough to list them in order.
insert into run_hparam_changes (run_id, version, place, key, "from", "to", at)
select h.run_id, 0, c.place, c.change ->> 'key', c.change -> 'from', c.change -> 'to', (c.change ->> 'at')::timestamptz
  from run_hparams h, jsonb_array_elements(h.changes) with ordinality c (change, place);
alter table run_hparams drop column changes;

create policy readable on run_hparam_changes for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_hparam_changes.run_id) then true end is not null);
alter table run_hparam_changes enable row level security;
