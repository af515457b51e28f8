-- What searches compare of hyperparameters (hparams.lr>=1e-5), one row for each, with an index for either way to
-- compare. Longer texts are cut: no search is as long (searchLimits.text).
create table run_hparam_values (
  run_id text             not null,
  key    text             not null,
  text   text             not null,  -- "null" for null
  number double precision,           -- also of a number reported as text, as argparse and MLflow do
  primary key (run_id, key)
);
insert into run_hparam_values (run_id, key, text, number)
select h.run_id, p.key, left(coalesce(p.value #>> '{}', 'null'), 256),
       case when jsonb_typeof(p.value) = 'number' then (p.value #>> '{}')::float8
            when length(p.value #>> '{}') < 64
             and p.value #>> '{}' ~* '^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]{1,2})?$'
            then (p.value #>> '{}')::float8 end
  from run_hparams h, jsonb_each(h.params) p;
create index run_hparam_numbers on run_hparam_values (key, number, run_id) where number is not null;
create index run_hparam_texts on run_hparam_values (key, text, run_id);

create policy readable on run_hparam_values for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = run_hparam_values.run_id) then true end is not null);
alter table run_hparam_values enable row level security;

-- Like settled_of_runs: a search looks at many runs, which the policy would judge one by one.
create view hparams_of_runs as
  select v.* from run_hparam_values v join readable_runs using (run_id);
