-- Judgings that a person cancelled (docs/use/validation.md).
alter table write.judging drop constraint judging_state_check,
  add constraint judging_state_check check (state in ('running', 'succeeded', 'failed', 'cancelled'));
