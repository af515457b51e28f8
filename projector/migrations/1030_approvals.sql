-- Read models behind /api/approvals, /api/approval-rules and /api/quota-requests. Disposable: drop, recreate, replay.
create table approval_rules (
  name      text    primary key,
  "when"    jsonb   not null,
  who       jsonb   not null,
  expires_h integer not null
);

create table approvals (
  approval_id   text        primary key,
  subject       jsonb       not null,
  subject_id    text        not null,
  run_id        text,  -- of the job that it is for
  title         text        not null,
  rule          text        not null,
  approver_role text,
  approver_team text,
  state         text        not null,
  requested_by  text        not null,
  requested_at  timestamptz not null,
  expires_at    timestamptz not null,
  decisions     jsonb       not null,
  reason        text,
  content       jsonb       not null
);
create index approvals_newest on approvals (requested_at desc);
create index approvals_pending on approvals (expires_at) where state = 'pending';
create index approvals_of_subject on approvals (subject_id);

create table quota_requests (
  request_id   text        primary key,
  username     text        not null,
  raise        jsonb       not null,
  until        timestamptz not null,
  reason       text        not null,
  requested_at timestamptz not null,
  approval_id  text        not null,
  state        text        not null
);
create index quota_requests_newest on quota_requests (requested_at desc);

select readable_if('true', 'approval_rules');
select readable_if('requested_by = (select caller()) or (approver_role = ''operator'' and (select caller()) is not null)
                    or approver_team in (select own_teams())', 'approvals');
select readable_if('username = (select caller())', 'quota_requests');
