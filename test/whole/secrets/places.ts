import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type { Pool } from 'pg'
import type { RedisClient } from '../../../platform/redis.ts'

/** A place to search, with its text. */
export type Place = { name: string; text: string }

/** Every column of every table of ours, each as a place: texts unchanged, bytes also decompressed. */
export async function databasePlaces(pool: Pool): Promise<Place[]> {
  const { rows } = await pool.query<{ schema: string; table: string; column: string }>(
    `select table_schema as schema, table_name as table, column_name as column
       from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_type = 'BASE TABLE' and table_schema !~ '^(pg_|information_schema)'`,
  )
  const places: Place[] = []
  for (const { schema, table, column } of rows) {
    const { rows: values } = await pool.query<{ value: unknown }>(
      `select "${column}" as value from "${schema}"."${table}" where "${column}" is not null`,
    )
    places.push({
      name: `column ${schema}.${table}.${column}`,
      text: values.map(({ value }) => toText(value)).join('\n'),
    })
  }
  return places
}

function toText(value: unknown): string {
  if (Buffer.isBuffer(value)) return bytesToText(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

/** The bytes as text, with compressed parts decompressed. */
function bytesToText(bytes: Buffer): string {
  const at = bytes.indexOf(zstdMagic)
  return bytes.toString('latin1') + (at < 0 ? '' : unpacked(bytes.subarray(at)))
}

function unpacked(bytes: Buffer): string {
  try {
    return zstdDecompressSync(bytes).toString('latin1')
  } catch {
    return ''
  }
}

/** Every key of this installation in Redis, with its value. */
export async function redisPlaces(client: RedisClient, prefix: string): Promise<Place[]> {
  const places: Place[] = []
  for (const key of await client.keys('*')) {
    if (!key.includes(prefix)) continue
    const dumped = (await client.sendCommand(['DUMP', key])) ?? ''
    places.push({ name: `redis ${key}`, text: `${key}\n${String(dumped)}` })
  }
  return places
}

/** Every file under a folder. */
export async function filePlaces(folder: string): Promise<Place[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile())
  return Promise.all(
    files.map(async entry => {
      const path = join(entry.parentPath, entry.name)
      const bytes = await readFile(path)
      return { name: `file ${relative(folder, path)}`, text: bytesToText(bytes) }
    }),
  )
}
