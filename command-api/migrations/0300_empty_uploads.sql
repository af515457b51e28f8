-- MLflow's clients store whole folders, in which files may be empty.
alter table upload drop constraint upload_size_bytes_check;
alter table upload add constraint upload_size_bytes_check check (size_bytes >= 0);
