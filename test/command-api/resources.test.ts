import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { kinds } from '../../command-api/compose.ts'
import type { Kind } from '../../command-api/kind.ts'
import type { Event } from '../../events/event.ts'
import { samples } from '../samples/all.ts'
import { sampleServer } from '../samples/server.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { database } from '../servers/postgres.ts'
import { keepUses, now } from './uses.ts'

/** The driver warns once in a process. */
const warnings: string[] = []
process.on('warning', ({ message }) => warnings.push(message))

const columns = 'id, name, within_id, owner, project, visibility, deleted'

/** By kind, the rows of its slice as rows of `write.resource`. */
const own: Readonly<Record<string, string>> = Object.assign({}, ...samples.map(one => one.things))

const shape = (of: string) => `select ${columns} from (${of}) as own (${columns})`

async function differences(pool: Pool, kept: string, expected: string): Promise<object[]> {
  const { rows } = await pool.query(
    `select 'kept only' as where, a.* from ((${kept}) except (${expected})) a
     union all select 'slice only', b.* from ((${expected}) except (${kept})) b`,
  )
  return rows
}

const uses = samples.flatMap(one => one.uses ?? []).join(' union all ')

const active = `
  select used_kind, used_id, user_kind, user_id, used_as from (${uses}) as own (used_kind, used_id, user_kind, user_id, used_as)
   where not (used_as in ('package', 'checkpoints') and exists (
                select from write.run_state where run_id = user_id and ended_at is not null))
     and not exists (select from write.revision_state where revision_id = used_as and state in ('failed', 'retired'))
  union all select 'artifact', j.resume_from, 'run', j.run_id, 'resume'
    from write.job_state j join write.run_state r using (run_id) where j.resume_from is not null and r.ended_at is null`

async function compare(t: ExecutionContext, pool: Pool): Promise<void> {
  for (const [kind, rows] of Object.entries(own)) {
    const kept = `select id, name, within_id, owner, project, visibility, deleted_at is not null from write.resource where kind = '${kind}'`
    t.deepEqual(await differences(pool, kept, shape(rows)), [], kind)
    const { rowCount } = await pool.query('select from write.resource where kind = $1', [kind])
    t.true((rowCount ?? 0) > 0, `the samples make no ${kind}`)
  }
  const kept = 'select used_kind, used_id, user_kind, user_id, used_as from write.use'
  t.deepEqual(await differences(pool, `${kept} where used_as <> 'resume'`, uses), [])
  t.deepEqual(await differences(pool, `${kept} where until is null`, active), [])
  const { rowCount } = await pool.query('select from write.use')
  t.true((rowCount ?? 0) > 0, 'the samples use nothing')
}

test('resources and uses are those of the tables of the slices', async t => {
  const { pool } = await sampleServer(t)
  t.deepEqual(
    Object.keys(own).sort(),
    [...new Set(kinds.map(({ name }) => name))].sort(),
    'add the rows of the kind to `things` of its sample, in test/samples/',
  )
  await compare(t, pool)
})

const used = { kind: 'upload', id: 'upl_1' }

/** A job uses its package while it is running. */
const oneUse: Kind = {
  name: 'run',
  resourceOf: () => null,
  usesOf({ type }) {
    const of = { user: { kind: 'run', id: 'run_1' }, used, as: 'package' }
    return [type === 'job.running' ? { begins: true, ...of } : { begins: false, ...of }]
  },
}

async function usesAfter(t: ExecutionContext, types: readonly string[]): Promise<object[]> {
  const { pool } = await database(t)
  await keepUses(
    pool,
    types.map(type => ({ type, data: {} })),
    [oneUse],
  )
  return (await pool.query('select until from write.use')).rows
}

test('of several changes of one use in a transaction the last one counts', async t => {
  const [begin, end] = ['job.running', 'job.exited']
  t.deepEqual(await usesAfter(t, [begin]), [{ until: null }])
  t.deepEqual(await usesAfter(t, [begin, end]), [{ until: now }])
  t.deepEqual(await usesAfter(t, [begin, end, begin]), [{ until: null }])
  t.deepEqual(await usesAfter(t, [end, begin]), [{ until: null }])
})

test('purging a thing forgets its uses and removes the things within it', async t => {
  const { pool } = await database(t)
  await pool.query(
    `insert into write.resource (kind, id, within_kind, within_id) values
       ('run', 'run_1', null, null), ('artifact', 'art_1', 'run', 'run_1'),
       ('run', 'run_2', null, null), ('artifact', 'art_2', 'run', 'run_2')`,
  )
  await pool.query(
    `insert into write.use (used_kind, used_id, user_kind, user_id, used_as, since)
     select 'upload', 'upl_' || id, kind, id, 'content', $1 from write.resource`,
    [now],
  )
  await keepUses(pool, [{ type: 'run.purged', data: { run_id: 'run_1' } }])
  const { rows: left } = await pool.query('select id, deleted_at from write.resource order by id')
  t.deepEqual(left, [
    { id: 'art_2', deleted_at: null },
    { id: 'run_1', deleted_at: now },
    { id: 'run_2', deleted_at: null },
  ])
  const { rows: users } = await pool.query('select user_id from write.use order by user_id')
  t.deepEqual(users, [{ user_id: 'art_2' }, { user_id: 'run_2' }])
})

test('a transaction sends its statements one at a time, as the next version of the driver requires', async t => {
  const { pool } = await database(t)
  const store = eventStoreOn(pool)
  const stamp = { now, actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'r' } as const
  const append = (stream: string, event: Event) => ({
    ...{ stream, expectedVersion: 0, events: [event], stamp },
  })
  const restorable_until = now.toISOString()
  await store.transaction(tx =>
    store.appendAll(tx, [
      append('run:r', { type: 'run.deleted', data: { run_id: 'r', restorable_until } }),
      append('model:m', { type: 'model.deleted', data: { model: 'm' } }),
      append('run:s', { type: 'run.purged', data: { run_id: 's', source: 'external' } }),
    ]),
  )
  await new Promise(setImmediate)
  t.deepEqual(warnings, [])
})
