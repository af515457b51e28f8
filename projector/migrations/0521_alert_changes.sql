-- 1, 2, … over all alerts, anew when one is resolved: the cursor of the stream.
alter table alerts add column change bigint not null default 0;
update alerts set change = numbered.nth
  from (select alert_id, row_number() over (order by coalesce(resolved_at, fired_at), alert_id) as nth from alerts) numbered
 where numbered.alert_id = alerts.alert_id;
alter table alerts alter column change drop default;
create index alerts_changed on alerts (change);
