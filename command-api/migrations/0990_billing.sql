-- Versions of the prices that administrators set by series. Those that were replaced before they began stay for the record.
create table write.rate_version (
  version              integer        primary key,
  effective_at         timestamptz    not null,
  gpu                  jsonb          not null,
  storage_per_gb_month numeric(12, 4) not null,
  set_by               text           not null,
  set_at               timestamptz    not null,
  is_replaced          boolean        not null default false
);

-- The budgets of calendar months (UTC), and what was spent at the last look, by which queued jobs wait.
create table write.budget (
  scope        text    not null,
  name         text    not null,
  amount_micro numeric not null,
  holds        boolean not null,
  month        text    not null,
  spent_micro  numeric not null,
  -- It was changed since the last look.
  is_new       boolean not null,
  primary key (scope, name)
);
