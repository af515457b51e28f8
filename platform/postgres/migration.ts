import { readFile } from 'node:fs/promises'
import { type ClientBase, escapeIdentifier } from 'pg'

export type Migration = { version: number; name: string; path: string }

/** The schema, and in it the table of the migrations applied. */
export async function createSchema(client: ClientBase, schema: string): Promise<void> {
  const name = escapeIdentifier(schema)
  await client.query(`create schema if not exists ${name}`)
  await client.query(
    `create table if not exists ${name}.migration (
       version integer primary key, name text not null, applied_at timestamptz not null default now())`,
  )
}

/** Part of the caller's transaction. */
export async function runIn(
  client: ClientBase,
  schema: string,
  { path }: Migration,
): Promise<void> {
  await client.query(`set local search_path = ${escapeIdentifier(schema)}`)
  await client.query(await readFile(path, 'utf8'))
}

export async function record(
  client: ClientBase,
  schema: string,
  { version, name }: Migration,
): Promise<void> {
  const table = `${escapeIdentifier(schema)}.migration`
  await client.query(`insert into ${table} (version, name) values ($1, $2)`, [version, name])
}
