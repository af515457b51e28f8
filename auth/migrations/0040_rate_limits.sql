-- Calls counted for each limit and client. Not worth a write-ahead log: a crash of Postgres starts the
-- minute anew. The columns are those of rate-limiter-flexible.
create unlogged table rate_limit (
  key    varchar(255) primary key,  -- limit and client
  points integer      not null default 0,
  expire bigint                     -- end of the window, in milliseconds since 1970
);
