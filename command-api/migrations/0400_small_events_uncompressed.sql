-- An admitted job's event has some 3 kB. Compressing it saved a third, took longer than the rest of its insert, and had to be
-- undone for the log, the audit chain and each fold.
alter table event set (toast_tuple_target = 8160);
