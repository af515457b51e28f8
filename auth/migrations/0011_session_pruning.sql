-- A session goes a day after its end, its refresh tokens with it.
create index session_by_end on session (expires_at);
create index refresh_token_of_session on refresh_token (sid);
alter table refresh_token
  drop constraint refresh_token_sid_fkey,
  add constraint refresh_token_sid_fkey foreign key (sid) references session on delete cascade;
