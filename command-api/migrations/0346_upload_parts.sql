-- Of a file that is sent in parts: how many bytes each has but the last.
alter table upload add column part_size bigint;
