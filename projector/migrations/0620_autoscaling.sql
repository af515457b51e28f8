-- When engines are added or taken away, and when a deployment is suspended for want of requests.
alter table deployments
  add column target integer not null default 16,
  add column up_window_s integer not null default 30,
  add column down_window_s integer not null default 600,
  add column idle_suspend_s integer;
