-- Failures of a period, grouped by their fingerprint.
create index diagnoses_by_time on diagnoses (created_at) where fingerprint is not null;
