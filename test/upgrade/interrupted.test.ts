import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { migrate, type Step } from '../../platform/postgres/migrate.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { migrationSets } from '../../server/database/migrations.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { patient } from '../servers/patience.ts'
import { database, databaseFrom } from '../servers/postgres.ts'
import { catalogs } from './catalogs.ts'
import { setsOf, unpack } from './fixture.ts'

const never = 0

/** Another process that migrates, killed before its nth step. */
function migrating(t: ExecutionContext, url: string, nth = never): ChildProcess {
  const script = join(import.meta.dirname, 'migrate-once.ts')
  const child = spawn(process.execPath, [script, url, String(nth)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

const ended = async (child: ChildProcess): Promise<unknown[]> =>
  child.exitCode === null && child.signalCode === null
    ? await once(child, 'exit')
    : [child.exitCode, child.signalCode]

/** Kills `child` once it has done everything in a transaction and is about to record it in the table of this schema. */
async function killInside(
  pool: Pool,
  schema: string,
  child: ChildProcess,
  meanwhile: () => Promise<unknown> = async () => {},
): Promise<void> {
  await inTransaction(pool, async tx => {
    await mayStayIdle(tx)
    await tx.query(`lock table ${schema}.migration in share mode`)
    // On another connection: a transaction sees the sessions of its beginning.
    await untilLockWaits(pool, `a migration of ${schema} is about to end`, ({ relation }) =>
      Boolean(relation?.endsWith('migration')),
    )
    await meanwhile()
    child.kill('SIGKILL')
    await ended(child)
  })
}

const applied = async (pool: Pool): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    migrationSets
      .map(({ schema }) => `select '${schema} ' || version as name from ${schema}.migration`)
      .join(' union all '),
  )
  return rows.map(({ name }) => name).sort()
}

const killed = [null, 'SIGKILL']

test('a server that is killed inside or after any migration resumes where it was', async t => {
  t.timeout(patient(200_000))
  const { url, pool } = await databaseFrom(t, 'template1')
  t.deepEqual(await ended(migrating(t, url, 1)), killed)
  t.deepEqual(await applied(pool), [])
  const steps = await stepsOf(t)
  t.true(steps.length >= 25)
  for (const [done, { schema }] of steps.entries()) {
    await killInside(pool, schema, migrating(t, url))
    t.is((await applied(pool)).length, done, `${schema}: rolled back`)
    const isLast = done + 1 === steps.length
    t.deepEqual(await ended(migrating(t, url, 2)), isLast ? [0, null] : killed)
    t.is((await applied(pool)).length, done + 1, `${schema}: committed`)
  }
  t.deepEqual(await catalogs(url), await catalogs((await database(t)).url))
})

/** What an empty database needs. */
async function stepsOf(t: ExecutionContext): Promise<Step[]> {
  const { url } = await databaseFrom(t, 'template1')
  const steps: Step[] = []
  await migrate(url, migrationSets, step => steps.push(step))
  t.deepEqual(
    steps.map(({ nth, total }) => nth / total),
    steps.map((_, index) => (index + 1) / steps.length),
  )
  return steps
}

test('of two servers that start at the same time, one resumes after the other is killed', async t => {
  const { url, pool } = await databaseFrom(t, 'template1')
  t.deepEqual(await ended(migrating(t, url, 9)), killed)
  t.is((await applied(pool)).length, 8)
  const started: ChildProcess[] = []
  await killInside(pool, 'write', migrating(t, url), async () => {
    started.push(migrating(t, url))
    await untilLockWaits(
      pool,
      'the second waits for the first',
      ({ locktype }) => locktype === 'advisory',
    )
  })
  for (const second of started) t.deepEqual(await ended(second), [0, null])
  t.is(started.length, 1)
  t.deepEqual(await catalogs(url), await catalogs((await database(t)).url))
})

test('a server that is killed while it adopts an earlier database resumes as well', async t => {
  const { remove, ...unpacked } = await unpack('0001-before-the-squash')
  t.teardown(remove)
  const { url, pool } = await databaseFrom(t, 'template1')
  await migrate(url, setsOf(unpacked))
  const before = await applied(pool)
  await killInside(pool, 'write', migrating(t, url))
  t.deepEqual(
    (await applied(pool)).filter(name => !/^(auth|log) /.test(name)),
    before.filter(name => !/^(auth|log) /.test(name)),
  )
  t.notDeepEqual(await applied(pool), before)
  const both = [migrating(t, url), migrating(t, url)]
  for (const child of both) t.deepEqual(await ended(child), [0, null])
  const fresh = await database(t)
  t.deepEqual(await applied(pool), await applied(fresh.pool))
  t.deepEqual(await catalogs(url), await catalogs(fresh.url))
})
