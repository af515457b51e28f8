-- A passkey is a second factor beside the password, as the codes of an authenticator are.
create or replace function has_second_factor(whose text) returns boolean language sql stable as
  'select exists (select from auth.totp where username = whose and set_up_at is not null)
       or exists (select from auth.passkey where username = whose)';

-- Until now the password alone signed in people who have a passkey and no authenticator.
update session set revoked_at = now()
 where revoked_at is null and via <> 'passkey'
   and username in (select username from passkey)
   and username not in (select username from totp where set_up_at is not null);

-- Whose password was right, if the challenge belongs to the second step of their sign-in.
alter table passkey_challenge add column username text;

-- Authenticators whose first code is still expected. Apart from those in use, so that one can replace another.
delete from totp where set_up_at is null;
alter table totp alter column set_up_at set not null, drop column began_at;
create table totp_begun (
  username text        primary key references person,
  sealed   text        not null,   -- the secret (auth/sealing-keys.ts)
  began_at timestamptz not null
);

-- When the password was generated, which its person must replace at the first sign-in; null: they chose it.
alter table person add column password_generated_at timestamptz;
