-- What searches compare of metrics. Admins, whom no policy applies to, need no join with runs here: the search joins with
-- them anyway. A condition that no row changes is decided once, so PostgreSQL runs only half of the union. Lists that are
-- sorted by a metric read settled_of_runs, whose order an index gives.
create view searched_summaries as
  select m.run_id, s.* from metric_settled s join metric_run m using (run_no)
   where not row_security_active('runs'::regclass)
  union all
  select m.run_id, s.* from metric_latest s join metric_run m using (run_no)
   where not row_security_active('runs'::regclass)
  union all
  select * from settled_of_runs where row_security_active('runs'::regclass)
  union all
  select * from latest_of_runs where row_security_active('runs'::regclass);
