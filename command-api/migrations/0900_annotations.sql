-- Annotation queues: their frozen items, who is at which item, and who answered it.
create table write.annotation_queue (
  queue_id text    primary key,
  name     text    not null,
  project  text    not null,
  owner    text    not null,
  kind     text    not null,
  overlap  integer not null,
  is_open  boolean not null,
  -- The runs whose samples it shows; none if it shows a dataset.
  runs     text[]  not null,
  -- owner/name@version.
  dataset  text,
  rubric   jsonb
);
create index annotation_queue_of_project on write.annotation_queue (project);
create index annotation_queue_of_run on write.annotation_queue using gin (runs);

-- What an item shows is no event: it is up to 256 KiB of text, and copied from the samples or rows that `sources` names.
create table write.annotation_item (
  queue_id  text    not null,
  item      integer not null,
  digest    text    not null,
  prompt    jsonb   not null,
  responses text[]  not null,
  sources   text[]  not null,
  judge     jsonb   not null,
  -- Whether it has as many answers as the queue asks for.
  is_done   boolean not null,
  primary key (queue_id, item)
);
create index annotation_item_open on write.annotation_item (queue_id, item) where not is_done;

create table write.annotation_claim (
  queue_id   text        not null,
  item       integer     not null,
  username   text        not null,
  -- 'claimed', 'answered' or 'skipped'.
  state      text        not null,
  -- A claim that has expired holds no place any more; it stays for its draft.
  expires_at timestamptz not null,
  draft      jsonb,
  answer     jsonb,
  decided_at timestamptz,
  primary key (queue_id, item, username)
);
create index annotation_claim_of_person on write.annotation_claim (queue_id, username, decided_at);
