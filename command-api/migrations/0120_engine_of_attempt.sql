-- The machine that runs the newest attempt; null in those of before, which any machine of the executor may take for its own.
alter table job_state add column engine text;

-- Machines that run attempts, and when each last looked after its own.
create table engine (
  engine  text        primary key,
  seen_at timestamptz not null
);
