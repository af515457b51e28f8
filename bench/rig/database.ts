import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'

export type Postmaster = { pid: number; port: number }

/** The embedded PostgreSQL of a data directory, from its pid file; null if there is none. */
export async function findPostmaster(dataDir: string): Promise<Postmaster | null> {
  const path = join(dataDir, 'postgres/cluster/postmaster.pid')
  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n')
  const pid = Number(lines[0])
  return pid > 0 ? { pid, port: Number(lines[3]) } : null
}

/** The address of the embedded PostgreSQL of a running server. */
export async function databaseUrl(dataDir: string): Promise<string> {
  const postmaster = await findPostmaster(dataDir)
  if (!postmaster) throw new Error(`no PostgreSQL runs in ${dataDir}`)
  const password = (await readFile(join(dataDir, 'postgres/password'), 'utf8')).trim()
  return `postgres://forge:${encodeURIComponent(password)}@127.0.0.1:${postmaster.port}/forge`
}

/** A separate connection to the embedded PostgreSQL of a running server. */
export async function connect(dataDir: string): Promise<Client> {
  const client = new Client({
    connectionString: await databaseUrl(dataDir),
    application_name: 'forge bench',
  })
  await client.connect()
  return client
}

/** Bytes of a table with its indexes, TOAST and partitions; 0 if the table does not exist. */
export async function tableBytes(client: Client, table: string): Promise<number> {
  const { rows } = await client.query<{ bytes: string | null }>(
    // pg_partition_tree returns nothing for a table without partitions.
    `select coalesce((select sum(pg_total_relation_size(relid)) from pg_partition_tree(to_regclass($1))),
                     pg_total_relation_size(to_regclass($1)))::text as bytes`,
    [table],
  )
  return Number(rows[0]?.bytes ?? 0)
}
