import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { kinds } from '../../command-api/compose.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { sampleServer } from '../samples/server.ts'

/** By kind, the tables of its slice as rows of `write.resource`. */
const own = {
  project:
    'select name as id, owner, name as project, visibility, false as deleted from write.project',
  run: 'select run_id, owner, project, null, deleted_at is not null from write.run_state',
  artifact: `select a.artifact_id, r.owner, r.project, null, a.deleted_at is not null
               from write.artifact a join write.run_state r using (run_id)`,
  model: 'select name, owner, project, null, deleted_at is not null from write.model',
  deployment: `select deployment_id, owner, project, null, state in ('deleting', 'deleted')
                 from write.deployment_state`,
  rubric: `select distinct on (stream) substr(stream, 8), data ->> 'owner', null, data ->> 'visibility', false
             from write.event where type = 'rubric.updated' order by stream, stream_version desc`,
  upload: 'select upload_id, owner, null, null, false from write.upload',
} as const

const shape = (of: string) =>
  `select id, owner, project, visibility, deleted from (${of}) as own (id, owner, project, visibility, deleted)`

async function differences(pool: Pool, kept: string, expected: string): Promise<object[]> {
  const { rows } = await pool.query(
    `select 'kept only' as where, a.* from ((${kept}) except (${expected})) a
     union all select 'slice only', b.* from ((${expected}) except (${kept})) b`,
  )
  return rows
}

const uses = `
  select 'artifact', init_from, 'run', run_id, 'init_from' from write.job_state
   where init_from is not null and serving is null
  union all select 'upload', upload_id, 'run', run_id, 'package' from write.job_state where upload_id is not null
  union all select 'run', retry_of, 'run', run_id, 'retry' from write.job_state where retry_of is not null
  union all select 'run', clone_of, 'run', run_id, 'clone' from write.job_state where clone_of is not null
  union all select 'artifact', artifact_id, 'model', model, version::text from write.model_version
  union all select 'upload', upload_id, 'artifact', artifact_id, 'content' from write.artifact where upload_id is not null
  union all select 'artifact', source ->> 'artifact_id', 'deployment', deployment_id, revision_id
    from write.revision_state where source ->> 'artifact_id' is not null`

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
    await tx.query('truncate resource, use')
    await tx.query(inserts)
  })
}

test('resources and uses are those of the tables of the slices, whether events or an upgrade filled them in', async t => {
  const { pool } = await sampleServer(t)
  t.deepEqual(Object.keys(own).sort(), [...new Set(kinds.map(({ name }) => name))].sort())
  await compare(t, pool)
  await fillIn(pool)
  await compare(t, pool)
})
