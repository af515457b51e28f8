-- Plans, and which of them started a run or a deployment.
create table plan (
  plan_id text primary key,
  owner   text not null,
  project text not null,
  -- `waiting` until it is submitted.
  state   text not null
);
create index plan_under_way on plan (plan_id) where state = 'submitted';
create index plan_waiting on plan (owner) where state = 'waiting';

create table plan_part (
  part_id text primary key,
  plan_id text not null
);
