-- The values of people's secrets, sealed (auth/sealing-keys.ts).
create table write.secret (
  owner  text not null,
  name   text not null,
  sealed text not null,
  primary key (owner, name)
);
