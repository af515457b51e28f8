-- Places in the queue come from the write side (command-api/jobs/queue-book.ts).
drop function queue_places(text[]);
