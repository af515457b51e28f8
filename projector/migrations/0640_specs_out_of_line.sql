-- A job's row is written anew each time its state changes, its spec and admission of some 2 kB are not: out of line they stay where
-- they are. Uncompressed, because compressing them took longer than the rest of the row.
alter table jobs alter column spec set storage external, alter column admission set storage external;
