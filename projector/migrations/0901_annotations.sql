-- Read models behind /api/annotations. Disposable: drop, recreate, replay.
create table annotation_queues (
  queue_id     text        primary key,
  name         text        not null,
  project      text        not null,
  owner        text        not null,
  kind         text        not null,
  state        text        not null,
  overlap      integer     not null,
  source       jsonb       not null,
  rubric       jsonb,
  instructions text        not null,
  items        integer     not null,
  completed    integer     not null,
  answers      integer     not null,
  skips        integer     not null,
  exports      jsonb       not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null
);
create index annotation_queues_of_project on annotation_queues (project, created_at);

-- Everything that people did with items. `is_current`: an answer or a skip that was not taken back.
create table annotation_answers (
  event_id   text        primary key,
  queue_id   text        not null,
  item       integer     not null,
  username   text        not null,
  what       text        not null,
  answer     jsonb,
  judge      jsonb,
  sources    text[]      not null,
  is_current boolean     not null,
  at         timestamptz not null
);
create index annotation_answers_of_item on annotation_answers (queue_id, item, at);
create index annotation_answers_that_count on annotation_answers (queue_id, item, username) where is_current;

select readable_if('project in (select readable_projects())', 'annotation_queues');
select readable_where('(select true from annotation_queues q where q.queue_id = <table>.queue_id)', 'annotation_answers');
