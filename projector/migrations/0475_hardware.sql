-- Read model behind /api/runs/{run_id}/hardware: what the machines of each run measured of themselves.
create table hardware_runs (
  run_id       text    primary key,
  -- Of the first record of the run on its topic, for a rebuild.
  first_offset bigint  not null,
  -- Points of sources beyond the most that are kept apart.
  dropped      bigint  not null
);

-- A GPU or a machine, as one process reported it. Numbered within the run, in the order in which they came.
create table hardware_sources (
  run_id  text    not null,
  source  integer not null,
  node    text,
  rank    integer,
  scope   text    not null,
  index   integer,
  uuid    text,
  -- The names of what it reported; a reading stands at the place of its name.
  keys    text[]  not null,
  primary key (run_id, source)
);

create table hardware_points (
  run_id   text     not null,
  source   integer  not null,
  -- By the clock of the machine, epoch milliseconds.
  ts       bigint   not null,
  readings float8[] not null,
  throttle text[],
  xid      integer,
  primary key (run_id, source, ts)
);

do $$
declare t text;
begin
  foreach t in array array['hardware_runs', 'hardware_sources', 'hardware_points']
  loop
    execute format(
      'create policy readable on %1$I for select using (
         case when run_id = any ((select asked_runs())::text[])
                or (select true from runs where runs.run_id = %1$I.run_id) then true end is not null)', t);
    execute format('alter table %I enable row level security', t);
  end loop;
end $$;
