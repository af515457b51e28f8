-- Read model behind /api/diagnoses/{id} and /api/jobs/{run_id}/diagnoses. Disposable: drop, recreate, replay.
create table diagnoses (
  diagnosis_id integer     primary key,
  run_id       text        not null,
  attempt      integer,
  status       text        not null,
  trigger      text        not null,
  requested_by text        not null,
  created_at   timestamptz not null,
  started_at   timestamptz,
  finished_at  timestamptz,
  verdict      jsonb,                  -- null until there is one
  fingerprint  text,                   -- of the verdict
  analyzer     jsonb,
  error        text
) with (fillfactor = 80);
create index diagnoses_of_run on diagnoses (run_id, diagnosis_id desc);
create index diagnoses_alike on diagnoses (fingerprint, created_at desc) where fingerprint is not null;

-- Row-level security (0300_row_security.sql): whoever reads the run.
create policy readable on diagnoses for select using (
  case when run_id = any ((select asked_runs())::text[])
         or (select true from runs where runs.run_id = diagnoses.run_id) then true end is not null);
alter table diagnoses enable row level security;
