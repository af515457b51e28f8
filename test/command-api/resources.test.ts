import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { kinds } from '../../command-api/compose.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { samples } from '../samples/all.ts'
import { sampleServer } from '../samples/server.ts'

/** By kind, the rows of its slice as rows of `write.resource`. */
const own: Readonly<Record<string, string>> = Object.assign({}, ...samples.map(one => one.things))

const shape = (of: string) =>
  `select id, owner, project, visibility, deleted from (${of}) as own (id, owner, project, visibility, deleted)`

async function differences(pool: Pool, kept: string, expected: string): Promise<object[]> {
  const { rows } = await pool.query(
    `select 'kept only' as where, a.* from ((${kept}) except (${expected})) a
     union all select 'slice only', b.* from ((${expected}) except (${kept})) b`,
  )
  return rows
}

const uses = samples.flatMap(one => one.uses ?? []).join(' union all ')

async function compare(t: ExecutionContext, pool: Pool): Promise<void> {
  for (const [kind, rows] of Object.entries(own)) {
    const kept = `select id, owner, project, visibility, deleted_at is not null from write.resource where kind = '${kind}'`
    t.deepEqual(await differences(pool, kept, shape(rows)), [], kind)
    const { rowCount } = await pool.query('select from write.resource where kind = $1', [kind])
    t.true((rowCount ?? 0) > 0, `the samples make no ${kind}`)
  }
  const kept =
    "select used_kind, used_id, user_kind, user_id, used_as from write.use where used_as <> 'resume'"
  t.deepEqual(await differences(pool, kept, uses), [])
  const { rowCount } = await pool.query('select from write.use')
  t.true((rowCount ?? 0) > 0, 'the samples use nothing')
}

const migration = join(import.meta.dirname, '../../command-api/migrations/0420_resources.sql')

/** As an upgrade fills the tables in. */
async function fillIn(pool: Pool): Promise<void> {
  const sql = await readFile(migration, 'utf8')
  const inserts = sql.slice(sql.indexOf('insert into'))
  await inTransaction(pool, async tx => {
    await tx.query('set local search_path to write')
    // Kinds that came later have no things of before.
    const older = Object.keys(own).filter(kind => sql.includes(`'${kind}'`))
    await tx.query('delete from resource where kind = any($1)', [older])
    await tx.query('delete from use where user_kind = any($1)', [older])
    await tx.query(inserts)
  })
}

test('resources and uses are those of the tables of the slices, whether events or an upgrade filled them in', async t => {
  const { pool } = await sampleServer(t)
  t.deepEqual(
    Object.keys(own).sort(),
    [...new Set(kinds.map(({ name }) => name))].sort(),
    'add the rows of the kind to `things` of its sample, in test/samples/',
  )
  await compare(t, pool)
  await fillIn(pool)
  await compare(t, pool)
})
