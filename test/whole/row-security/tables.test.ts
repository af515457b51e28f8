import test, { type ExecutionContext } from 'ava'
import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import type { Person } from '../../../auth/caller.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { prepareReaderRole } from '../../../platform/postgres/reader-role.ts'
import type { ReadTables } from '../../../query-api/compose.ts'
import { createReads, type Reads } from '../../../query-api/reading/reads.ts'
import { filteredRuns, pageOfRuns } from '../../../query-api/runs/list.ts'
import { samples } from '../../samples/all.ts'
import { member } from '../../samples/projects.ts'
import type { RowOwner, TableSample } from '../../samples/sample.ts'
import { database } from '../../servers/postgres.ts'
import { fillEveryTable, person, tables } from './rows.ts'

const ada: RowOwner = { username: 'ada', project: 'of-ada', run_id: 'run_ada', no: 1 }
const owners: readonly RowOwner[] = [
  ada,
  { username: 'bob', project: 'of-bob', run_id: 'run_bob', no: 2 },
]

/** Not about people: the projector's progress. Nobody may read these under row-level security. */
const bookkeeping = [
  'applied_event',
  'dead_letter',
  'generation',
  'last_change',
  'migration',
  'projection_checkpoint',
  'stream_head',
]
type Walled = { pool: Pool; reads: Reads<ReadTables>; relations: string[] }

/** A database with one row of each owner in every table, and reads that only row-level security protects. */
async function walled(t: ExecutionContext): Promise<Walled> {
  const { pool, url } = await database(t)
  const { role } = await prepareReaderRole(url, 'read')
  t.is(role, 'forge_reader')
  for (const owner of owners) await fillEveryTable(pool, owner)
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'read'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition
        and has_table_privilege('forge_reader', oid, 'select') order by 1`,
  )
  const query = createPool(url, { max: 3, searchPath: 'read', applicationName: 'forge test query' })
  t.teardown(() => query.end())
  return { pool, reads: createReads({ pool: query, role }), relations: rows.map(row => row.name) }
}

async function counts(db: Kysely<ReadTables>, relations: readonly string[]) {
  const found: Record<string, number> = {}
  for (const name of relations) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(name)}`.execute(
      db,
    )
    found[name] = rows[0]?.n ?? -1
  }
  return found
}

/** The number of visible rows of each relation, given the number of visible owners. */
const expected = (relations: readonly string[], ownersSeen: (table: TableSample) => number) =>
  Object.fromEntries(
    relations.map(name => {
      const table = tables[name]
      if (!table) return [name, 'in no sample']
      const { seenBy, rowsEach = 1 } = table
      return [name, seenBy === 'everybody' ? owners.length : rowsEach * ownersSeen(table)]
    }),
  )

test('the samples declare who sees the rows of every table that people’s queries may read', async t => {
  const { relations } = await walled(t)
  t.deepEqual(
    relations.filter(name => !(name in tables)),
    [],
    'name it under `tables` in test/samples/<slice>.ts: see test/README.md',
  )
  t.deepEqual(
    Object.keys(tables).filter(name => !relations.includes(name)),
    [],
    'tables that are no more',
  )
})

test("without any filter, everybody sees their own rows, their projects' rows, and nothing else", async t => {
  const { reads, relations } = await walled(t)
  t.true(relations.length > 20)
  const seen = (who: Person, runIds: string[] = []) => counts(reads.as(who, runIds), relations)
  const all = ['run_ada', 'run_bob']
  t.deepEqual(
    await seen(person('root', 'admin')),
    expected(relations, () => 2),
  )
  for (const hint of [[], all]) {
    t.deepEqual(
      await seen(person('eve'), hint),
      expected(relations, () => 0),
    )
    t.deepEqual(
      await seen(person('ada'), hint),
      expected(relations, () => 1),
    )
    t.deepEqual(
      await seen(person(member), hint),
      expected(relations, table => (table.seenBy === 'members' ? 2 : 0)),
    )
  }
})

test('internal and public things can be read by every signed-in person', async t => {
  const { pool, reads, relations } = await walled(t)
  for (const { publish } of samples) if (publish) await pool.query(publish(ada))
  t.deepEqual(
    await counts(reads.as(person('eve')), relations),
    expected(relations, table => (table.seenBy === 'owner alone' ? 0 : 1)),
  )
  t.deepEqual(
    await counts(reads.as(person('')), relations),
    expected(relations, () => 0),
  )
})

test('a shared stream sees the rows of its runs and of no others', async t => {
  const { reads, relations } = await walled(t)
  t.deepEqual(
    await counts(reads.shared(['run_ada']), relations),
    expected(relations, table => (table.isOfRun ? 1 : 0)),
  )
  t.deepEqual(
    await counts(reads.shared([]), relations),
    expected(relations, () => 0),
  )
})

test('the visible rows are those of the person, not just the right number', async t => {
  const { reads } = await walled(t)
  const bobs = reads.as(person('bob'))
  t.like(await bobs.selectFrom('runs').select('run_id').execute(), [{ run_id: 'run_bob' }])
  t.like(await bobs.selectFrom('metric_chunk').select('run_no').execute(), [{ run_no: 2 }])
  t.like(await bobs.selectFrom('artifacts').select('artifact_id').execute(), [
    { artifact_id: 'art_2' },
  ])
})

test('the list of runs without its filter shows no more than with it, in every order', async t => {
  const { pool, reads } = await walled(t)
  // If a run is listed by a metric, only one of the tables has it.
  await pool.query('delete from read.metric_latest')
  const [bob, root] = [person('bob'), person('root', 'admin')]
  for (const sort of ['-created_at', 'metric:of-ada:last', '-metric:of-bob:max']) {
    // An admin's queries have no filter.
    const listed = async (who: Person) => {
      const db = reads.as(who)
      const runs = filteredRuns(db, { projects: null, caller: root }, {})
      const page = await pageOfRuns(db, { runs, counted: 2, first: null }, sort, {
        limit: 50,
        offset: 0,
      })
      return page.map(run => run.run_id).sort()
    }
    t.deepEqual(await listed(bob), ['run_bob'], sort)
    t.deepEqual(await listed(root), ['run_ada', 'run_bob'], sort)
  }
})

test('every table has row-level security or contains no data of people, and the reader role can only read', async t => {
  const { pool, reads, relations } = await walled(t)
  const { rows } = await pool.query<{ name: string; kind: string; options: string[] | null }>(
    `select relname as name, relkind as kind, reloptions as options from pg_class
      where relnamespace = 'read'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition`,
  )
  t.deepEqual(
    rows.flatMap(({ name }) => (relations.includes(name) ? [] : [name])).sort(),
    bookkeeping,
    'a new table needs row-level security: see CONTRIBUTING.md',
  )
  // These contain the rule themselves; any other view must be read with the caller's rights.
  const carriers = [
    ...[
      'hparams_of_runs',
      'labels_of_runs',
      'latest_of_runs',
      'readable_runs',
      'searched_summaries',
    ],
    'settled_of_runs',
  ]
  t.deepEqual(
    rows
      .filter(({ kind, options }) => kind === 'v' && !options?.includes('security_invoker=true'))
      .map(({ name }) => name)
      .sort(),
    carriers,
  )
  const db = reads.as(person('ada'))
  for (const statement of [
    ...bookkeeping.map(table => sql`select * from ${sql.table(table)}`),
    ...['write.event', 'auth.person'].map(table => sql`select * from ${sql.table(table)}`),
    sql`update runs set notes = ''`,
    sql`delete from project_members`,
    sql`insert into project_members values ('of-bob', 'ada', 'viewer', now())`,
  ])
    await t.throwsAsync(statement.execute(db), { message: /permission denied/ })
})

test('a view that lists runs has all their columns', async t => {
  const { pool } = await database(t)
  const columnsOf = async (relation: string) =>
    (
      await pool.query(
        `select attname from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum`,
        [relation],
      )
    ).rows
  t.deepEqual(await columnsOf('read.readable_runs'), await columnsOf('read.runs'))
})
