-- When and by whom the deletion of an artifact was asked for; `keep_rules`: by those of its job.
alter table artifacts
  add column deleted_at timestamptz,
  add column deleted_by text;

-- Until now every job was admitted with rules that nothing applied (job.admitted, version 2).
update jobs set spec = jsonb_set(spec, '{spec,checkpoints,keep}', 'null');
