-- How far everything is filled in that this version keeps. A projector of an earlier version, which may be at work for a while
-- after this migration, moves next_offset alone; the next one to take its lock then fills in what that one left out.
alter table projection_checkpoint add column filled_to bigint;
