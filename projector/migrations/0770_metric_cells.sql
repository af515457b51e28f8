-- Means and extremes of about 8 to 16 neighbouring points each (platform/series/cells.ts), from which the curves of many runs
-- are drawn without decoding their chunks. Null for chunks that are too short, or were written before this migration.
alter table metric_chunk add column cells bytea, add column cell_extremes bytea;
alter table metric_chunk alter column cells set storage external, alter column cell_extremes set storage external;
