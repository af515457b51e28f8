-- Read models behind /api/reflows. Disposable: drop, recreate, replay.
create table reflows (
  reflow_id      text        primary key,
  name           text        not null,
  owner          text        not null,
  source         jsonb       not null,
  filter         text        not null,
  dedupe         text        not null,
  scrub          text[]      not null,
  sample_rate    float8      not null,
  rubric         jsonb,
  take           text        not null,
  target_dataset text        not null,
  state          text        not null,
  last_version   text,
  firings        integer     not null,
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  -- A deleted one stays for the lineage of its versions.
  deleted_at     timestamptz
);
create index reflows_newest on reflows (owner, created_at desc) where deleted_at is null;

create table reflow_firings (
  reflow_id  text        not null,
  firing     integer     not null,
  "window"   text,
  state      text        not null,
  ref        text,
  created    boolean     not null,
  reason     text,
  counts     jsonb,
  started_at timestamptz not null,
  ended_at   timestamptz,
  primary key (reflow_id, firing)
);
create index reflow_firings_by_version on reflow_firings (ref) where ref is not null;

select readable_if('owner = (select caller())', 'reflows');
select readable_where('(select true from reflows r where r.reflow_id = <table>.reflow_id)', 'reflow_firings');
