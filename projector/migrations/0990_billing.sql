-- Read models behind /api/billing and /api/budgets. Disposable: drop, recreate, replay.
-- What is billed besides GPU time, which is in usage_lines. Rows are added and never changed.
create table billing_entries (
  entry_id           text        primary key,
  kind               text        not null,  -- 'storage', 'correction'
  owner              text        not null,
  project            text,
  run_id             text,
  day                text        not null,  -- UTC, 2026-11-20
  starts_at          timestamptz not null,
  ends_at            timestamptz not null,
  byte_ms            numeric     not null,
  price_per_gb_month text        not null,
  cost_micro         numeric     not null,  -- millionths of the currency, signed
  corrects           text,
  reason             text        not null
);
create index billing_entries_of_day on billing_entries (day);

create table budgets (
  scope        text    not null,  -- 'user', 'project'
  name         text    not null,
  amount_micro numeric not null,
  holds        boolean not null,
  primary key (scope, name)
);

select readable_with_project('billing_entries');
select readable_if('case scope when ''user'' then name = (select caller()) else name in (select readable_projects()) end', 'budgets');
