-- Prices of profiles after their first one. A change holds for the jobs that run, from its time on: `job.repriced`.
create table profile_rate (
  profile            text           not null,
  effective_at       timestamptz    not null,
  price_per_gpu_hour numeric(12, 4) not null,
  primary key (profile, effective_at)
);

-- Changes of the price up to then are in the job's events; '-infinity': none is. Jobs of before this keep the price of their
-- admission until the next change.
alter table job_state add column priced_at timestamptz not null default now();
