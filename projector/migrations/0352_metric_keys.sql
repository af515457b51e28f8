-- How many keys a run has, and those that lists show: the first 50 by name. Apart from metric_run, whose rows each flush
-- writes anew; this one changes with a new key only.
create table metric_keys (
  run_no integer   primary key,
  keys   integer   not null,
  listed integer[] not null
);
insert into metric_keys (run_no, keys, listed)
select s.run_no, count(*), (array_agg(s.key_no order by n.key collate "C"))[1:50]
  from metric_summary s join metric_name n using (key_no) group by s.run_no;

create policy readable on metric_keys for select using (
  case when run_no = any ((select asked_run_nos())::integer[])
         or (select true from metric_run where metric_run.run_no = metric_keys.run_no) then true end is not null);
alter table metric_keys enable row level security;
