-- Where the engines of replicas have their sockets on a machine that runs attempts itself; null on a cluster, whose engines listen
-- on the network.
alter table engine add column runs_directory text;

-- For deployments, which do not read the table of hosts themselves.
create function runs_directory_of(host text) returns text stable language sql
  as 'select runs_directory from write.engine where engine = host';
