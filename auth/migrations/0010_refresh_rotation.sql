-- From this and the spent token, of which only the hash is kept, follows the token that took its place.
alter table refresh_token drop column successor;
alter table refresh_token add column successor_salt bytea;

-- What a person sees of their own sessions, to tell them apart.
alter table session add column last_used_at timestamptz;
alter table session add column user_agent text;
