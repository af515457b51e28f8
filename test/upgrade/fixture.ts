import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { create, extract } from 'tar'
import { aggregates } from '../../events/all.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { migrationSets } from '../../server/database/migrations.ts'
import type { Samples } from '../samples/make.ts'
import type { Answers } from './answers.ts'

export const fixtures = join(import.meta.dirname, 'fixtures')
const ending = '.tgz'

/** The samples as a version of Forge stored them, and its responses about them. */
export type Fixture = {
  recordedAt: string
  /** Names of migrations, `read/0680_policies`. */
  migrations: readonly string[]
  /** The newest version of each type of event. */
  events: Readonly<Record<string, number>>
  samples: Pick<Samples, 'people' | 'made'>
  partitions: readonly Partition[]
  /** Statements that set the sequences. */
  sequences: readonly string[]
  answers: Answers
}

type Partition = { name: string; parent: string; bound: string; options: string; secured: boolean }

/** An unpacked fixture: `migrations/<schema>/`, `tables/<schema>.<table>.json`, `data/` and `fixture.json`. */
export type Unpacked = { folder: string; fixture: Fixture }

export const fixtureNames = async (): Promise<string[]> =>
  (await readdir(fixtures))
    .filter(file => file.endsWith(ending))
    .map(file => file.slice(0, -ending.length))
    .sort()

export async function unpack(name: string): Promise<Unpacked & { remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-test-upgrade-'))
  await extract({ file: join(fixtures, `${name}${ending}`), cwd: folder })
  const fixture: Fixture = JSON.parse(await readFile(join(folder, 'fixture.json'), 'utf8'))
  return { folder, fixture, remove: () => rm(folder, { recursive: true, force: true }) }
}

export async function pack(name: string, { folder, fixture }: Unpacked): Promise<string> {
  await writeFile(join(folder, 'fixture.json'), JSON.stringify(fixture, null, 1))
  const file = join(fixtures, `${name}${ending}`)
  const parts = ['fixture.json', 'migrations', 'tables', 'data']
  await create({ file, cwd: folder, gzip: { level: 9 }, portable: true, mtime: new Date(0) }, parts)
  return file
}

/** The sets of migrations as that version had them. */
export const setsOf = ({ folder }: Pick<Unpacked, 'folder'>) =>
  migrationSets.map(({ schema }) => ({ schema, folder: join(folder, 'migrations', schema) }))

/** Copies the migrations of this version, and returns their names. */
export async function saveMigrations(folder: string): Promise<string[]> {
  const names: string[] = []
  for (const set of migrationSets) {
    await cp(set.folder, join(folder, 'migrations', set.schema), { recursive: true })
    const files = (await readdir(set.folder)).sort()
    names.push(...files.map(file => `${set.schema}/${file.replace('.sql', '')}`))
  }
  return names
}

export const eventVersions = (): Record<string, number> =>
  Object.fromEntries(
    aggregates.flatMap(({ events }) =>
      events.map(({ type, schema_version }) => [type, schema_version]),
    ),
  )

const inOurSchemas = `n.nspname in ('auth', 'log', 'write', 'read')`

/** Copies all rows, as JSON. The table of applied migrations follows from the migrations. */
export async function saveTables(
  pool: Pool,
  folder: string,
): Promise<Pick<Fixture, 'partitions' | 'sequences'>> {
  await mkdir(join(folder, 'tables'))
  const { rows: tables } = await pool.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where ${inOurSchemas} and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migration' order by 1`,
  )
  for (const { name } of tables) {
    const { rows } = await pool.query<{ all: string }>(
      `select coalesce(json_agg(t)::text, '[]') as all from ${name} t`,
    )
    await writeFile(join(folder, 'tables', `${name}.json`), rows[0]?.all ?? '[]')
  }
  const { rows: partitions } = await pool.query<Partition>(
    `select n.nspname || '.' || c.relname as name, inhparent::regclass::text as parent,
            pg_get_expr(c.relpartbound, c.oid) as bound, array_to_string(coalesce(c.reloptions, '{}'), ', ') as options,
            c.relrowsecurity as secured
       from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_inherits on inhrelid = c.oid
      where ${inOurSchemas} and c.relkind = 'r' and c.relispartition order by 1`,
  )
  const { rows: sequences } = await pool.query<{ sql: string }>(
    `select format('select setval(%L, %s, %L)', n.nspname || '.' || c.relname, coalesce(s.last_value, s.start_value), s.last_value is not null) as sql
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_sequences s on s.schemaname = n.nspname and s.sequencename = c.relname
      where ${inOurSchemas} and c.relkind = 'S' order by 1`,
  )
  return { partitions, sequences: sequences.map(({ sql }) => sql) }
}

/** Fills an empty database with the schemas and rows of that version. */
export async function restore(unpacked: Unpacked, url: string): Promise<void> {
  await migrate(url, setsOf(unpacked))
  const { partitions, sequences } = unpacked.fixture
  const pool = createPool(url, { max: 1, applicationName: 'forge test restore' })
  try {
    // Neither triggers nor the order of foreign keys matter to rows that were right already.
    await pool.query(`set session_replication_role = replica`)
    for (const { name, parent, bound, options, secured } of partitions) {
      await pool.query(
        `create table ${name} partition of ${parent} ${bound} ${options && `with (${options})`}`,
      )
      if (secured) await pool.query(`alter table ${name} enable row level security`)
    }
    const folder = join(unpacked.folder, 'tables')
    for (const file of await readdir(folder)) {
      const table = file.replace('.json', '')
      await pool.query(`delete from ${table}`)
      await pool.query(
        `insert into ${table} overriding system value select * from json_populate_recordset(null::${table}, $1)`,
        [await readFile(join(folder, file), 'utf8')],
      )
    }
    for (const sql of sequences) await pool.query(sql)
  } finally {
    await pool.end()
  }
}
