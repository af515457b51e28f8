-- What ties a session to the identity provider that vouched for it.
alter table session add column provider_token bytea;       -- its refresh token, sealed (auth/provider-token.ts)
alter table session add column confirmed_at   timestamptz; -- when it last vouched for the person and their role
alter table session add column asked_at       timestamptz; -- when it was last asked
