import test, { type ExecutionContext } from 'ava'
import { registerArtifact } from '../../command-api/artifacts/decide.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { record } from '../../command-api/effects/outcome.ts'
import { runForgetter, runPurger } from '../../command-api/runs/purge.ts'
import { deleteUnused } from '../../command-api/uploads/delete-unused.ts'
import { artifactAt } from '../../events/artifacts.ts'
import { runAt } from '../../events/runs.ts'
import { keptOfRuns, tablesOfRuns } from '../../projector/purged-runs.ts'
import { storing } from '../artifacts/storing.ts'
import { dutiesAreDone } from '../servers/decisions-done.ts'
import { dumpReadModels } from '../servers/dump.ts'
import { type Forge, sharedForge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { settled } from '../servers/settled.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

/** An ended run that has reported something of every kind. */
async function fullRun(forge: Forge, project: string): Promise<ExternalRun> {
  const run = await createRun(forge, project)
  const send = (route: string, body: object) => ingest(forge, run, route, body)
  await send('lifecycle', { event: 'running' })
  await send('hparams', { params: { lr: 0.1 } })
  await send('metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  await send('logs', { chunks: ['a line'] })
  const at = { ts: '2026-11-20T12:00:00Z', scope: 'gpu', index: 0 }
  await send('hardware', { points: [{ ...at, util_pct: 9 }] })
  await send('validation', {
    ...{ step: 1, chunk_index: 0, total_chunks: 1 },
    samples: [{ user: 'u', reward: 1 }],
  })
  await storing(forge, run).store(Buffer.from(`weights of ${project}`), 'model', 1)
  await send('lifecycle', { event: 'failed' })
  await until('its log is closed, its failure diagnosed and announced', 30_000, async () => {
    const { rowCount } = await forge.pool.query(
      `select from read.diagnoses d join write.run_state r using (run_id) join read.alerts a using (run_id)
        where run_id = $1 and d.status = 'succeeded' and eof_sent_at is not null and a.kind = 'diagnosis_ready'`,
      [run.run_id],
    )
    return rowCount === 1
  })
  return run
}

const remove = (forge: Forge, { run_id }: ExternalRun) =>
  forge.call('DELETE', `/api/runs/${run_id}`)

/** Moves the due time of waiting work to now, and of done work as well, which then happens again. */
const makeDue = (forge: Forge, { run_id }: ExternalRun, done = false) =>
  forge.pool.query(
    `update write.duty set due_at = now(), done_at = null, leased_until = null
      where reactor in ('purge-runs', 'forget-runs') and payload ->> 'run_id' = $1 and (done_at is null or $2)`,
    [run_id, done],
  )

const untilDone = (forge: Forge, { run_id }: ExternalRun) =>
  until('its duties are done', 20_000, () => dutiesAreDone(forge.pool, run_id))

const eventsOf = async (forge: Pick<Forge, 'pool'>, run_id: string) => {
  const { rows } = await forge.pool.query<{ type: string }>(
    `select type from write.event where stream = 'run-' || $1 and type ~ '^run.(deleted|restored|purge)'
      order by stream_version`,
    [run_id],
  )
  return rows.map(row => row.type)
}

/** How many rows of a run each table of the read models has, of those with any. */
async function rowsOf({ pool }: Forge, { run_id }: ExternalRun): Promise<Record<string, number>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'read' and table_type = 'BASE TABLE' and column_name = 'run_id'`,
  )
  const found: Record<string, number> = {}
  for (const { name } of tables) {
    const { rowCount } = await pool.query(`select from read."${name}" where run_id = $1`, [run_id])
    if (rowCount) found[name] = rowCount
  }
  return found
}

async function purged(forge: Forge, run: ExternalRun): Promise<void> {
  await remove(forge, run)
  await makeDue(forge, run)
  await until('it is purged', 20_000, async () => {
    await untilDone(forge, run)
    await settled(forge)
    return Object.keys(await rowsOf(forge, run)).length === 0
  })
}

const pointRows = async ({ pool }: Forge) => {
  const { rows } = await pool.query(
    `select (select count(*)::int from read.metric_block) + (select count(*)::int from read.metric_chunk)
          + (select count(*)::int from read.metric_latest) + (select count(*)::int from read.metric_settled) as n`,
  )
  return rows[0]?.n
}

test('a purged run is gone from every table and read, even after a rebuild, and however often it is purged', async t => {
  t.timeout(patient(200_000))
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const run = await fullRun(forge, 'gone')
  // Simulates that two weeks have passed.
  await forge.pool.query(
    `insert into read.hardware_means (run_id, source, ts, readings, counts)
     select run_id, source, ts, readings, '{1}' from read.hardware_points where run_id = $1`,
    [run.run_id],
  )
  const before = await rowsOf(forge, run)
  for (const table of [
    'runs',
    'artifacts',
    'log_chunks',
    'metric_run',
    'hardware_points',
    'hardware_means',
  ])
    t.true((before[table] ?? 0) > 0, table)
  t.true((await pointRows(forge)) > 0)
  await purged(forge, run)
  t.is(await pointRows(forge), 0)
  t.deepEqual(await eventsOf(forge, run.run_id), ['run.deleted', 'run.purged'])
  await unreadable(t, forge, run)

  await makeDue(forge, run, true)
  await untilDone(forge, run)
  await settled(forge)
  t.deepEqual(await eventsOf(forge, run.run_id), ['run.deleted', 'run.purged'])

  // The numbers of changes continue, although the newest is gone.
  const kept = await fullRun(forge, 'kept')
  const { rows } = await forge.pool.query('select min(change) as first from read.state_changes')
  t.true(rows[0]?.first > 3)
  await settled(forge)
  const compared = (table: string) =>
    !/^(metric_|generation|migration|projection_|stream_head|applied_event)/.test(table)
  const dump = await dumpReadModels(forge.pool, compared)
  t.is((await forge.call('POST', '/api/admin/projections/all/rebuild')).status, 200)
  const rebuilt = await until('the rebuild is over', 60_000, async () => {
    const { body } = await forge.call<{ rebuild: { state: string; error: string | null } }>(
      'GET',
      '/api/admin/projections',
    )
    return body.rebuild.state !== 'running' && body.rebuild
  })
  t.like(rebuilt, { state: 'succeeded', error: null })
  t.deepEqual(await dumpReadModels(forge.pool, compared), dump)
  t.deepEqual(await rowsOf(forge, run), {})
  t.true((await rowsOf(forge, kept)).runs === 1)
})

async function unreadable(t: ExecutionContext, forge: Forge, run: ExternalRun): Promise<void> {
  for (const path of ['', '/metrics?keys=loss', '/logs', '/hparams', '/artifacts', '/hardware'])
    t.is((await forge.call('GET', `/api/runs/${run.run_id}${path}`)).status, 404, path)
  t.deepEqual((await forge.call('GET', '/api/runs?deleted=true')).body, [] as never)
  t.is((await remove(forge, run)).status, 404)
  const restored = await forge.call('POST', `/api/runs/${run.run_id}/restore`)
  t.is(restored.status, 409)
  t.like(restored.body, { code: 'run.purged' })
  const { rowCount } = await forge.pool.query('select from write.artifact where run_id = $1', [
    run.run_id,
  ])
  t.is(rowCount, 0)
}

test('every table of the read models with runs loses a purged one’s rows, or keeps them on purpose', async t => {
  const { pool } = await database(t)
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_schema = 'read' and table_type = 'BASE TABLE' and column_name = 'run_id' order by 1`,
  )
  const ofFacts = /^(metric|log|hardware|traffic|validation)_/
  t.deepEqual(
    rows.map(row => row.name).filter(name => !ofFacts.test(name)),
    [...tablesOfRuns, ...keptOfRuns].sort(),
  )
})

test('a restored run stays, and a later deletion has its own time', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'back')
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await remove(forge, run)
  await forge.call('POST', `/api/runs/${run.run_id}/restore`)
  await makeDue(forge, run)
  await untilDone(forge, run)
  await until('it is shown again', 20_000, async () => {
    const { status } = await forge.call('GET', `/api/runs/${run.run_id}`)
    return status === 200
  })
  await remove(forge, run)
  const { rows } = await forge.pool.query(
    `select due_at > now() + interval '29 days' as later from write.duty
      where reactor = 'purge-runs' and done_at is null and payload ->> 'run_id' = $1`,
    [run.run_id],
  )
  t.deepEqual(rows, [{ later: true }])
  t.deepEqual(await eventsOf(forge, run.run_id), ['run.deleted', 'run.restored', 'run.deleted'])
})

test('a run to which a job refers stays, says why, and is retried a day later', async t => {
  const forge = await shared()
  const run = await createRun(forge, 'needed')
  await ingest(forge, run, 'lifecycle', { event: 'succeeded' })
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 1, executor: 'local' },
  })
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { body: job } = await forge.call<ExternalRun>('POST', '/api/jobs', {
    body: {
      ...{
        api: 'forge/v2',
        metadata: { name: 'n', project: 'needed', labels: { 'clone-of': run.run_id } },
      },
      lock,
      spec: { resources: { profile: 'spare' } },
    },
  })
  await forge.call('POST', `/api/jobs/${job.run_id}/stop`, { body: { force: true } })
  await remove(forge, run)
  await makeDue(forge, run)
  await untilDone(forge, run)
  await until('its row says why', 20_000, async () => {
    const { body } = await forge.call<{ run_id: string; kept_because: string }[]>(
      'GET',
      '/api/runs?project=needed&deleted=true',
    )
    return body.some(row => row.kept_because === 'One job, model or deployment refers to it')
  })
  const { rows } = await forge.pool.query(
    `select due_at between now() + interval '23 hours' and now() + interval '25 hours' as tomorrow from write.duty
      where reactor = 'purge-runs' and done_at is null and payload ->> 'run_id' = $1`,
    [run.run_id],
  )
  t.deepEqual(rows, [{ tomorrow: true }])
  await makeDue(forge, run)
  await untilDone(forge, run)
  t.deepEqual(await eventsOf(forge, run.run_id), ['run.deleted', 'run.purge_postponed'])
  await remove(forge, job)
  await makeDue(forge, run)
  await untilDone(forge, run)
  t.deepEqual((await eventsOf(forge, run.run_id)).at(-1), 'run.purged')
})

test('a purge whose process died before it was recorded is repeated and decides once', async t => {
  const { pool } = await database(t)
  const now = new Date('2026-12-20T12:00:00Z')
  const { deps } = await routeParts(t, pool, () => now)
  const restorable_until = '2026-12-20T11:00:00+00:00'
  const run_id = 'run_1'
  const by = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'r' } as const
  const sha256 = 'a'.repeat(64)
  await pool.query(
    `insert into write.upload (upload_id, owner, purpose, filename, content_type, size_bytes, sha256, created_at, used_at, completed_at)
     values ('upl_1', $1, 'artifact', 'f', 'a/b', 1, $2, $3, $3, $3)`,
    [run_id, sha256, new Date('2026-11-01')],
  )
  const facts = {
    ...{ artifact_id: 'art_1', run_id, path: `forge://${run_id}/upl_1/f`, sha256, format: 'f' },
    ...{ kind: 'checkpoint' as const, step: 1, size_bytes: 7, metrics: {}, attempt: null },
  }
  await commit(deps, by, artifactAt('art_1'), { decide: one => registerArtifact(one, facts) })
  const deletion = { type: 'run.deleted' as const, data: { run_id, restorable_until } }
  await commit(deps, by, runAt(run_id), { decide: () => [deletion] })
  const duty = { duty_id: '0199e2c4-5b7a-7c11-8c2e-000000000001', attempt: 1, due_at: now }
  const perform = async () => {
    const payload = { run_id, restorable_until }
    const signal = new AbortController().signal
    const outcome = await runPurger([]).perform({ ...duty, payload }, deps, signal)
    return () => record(deps, by, { outcome, unless: async () => false })
  }
  const uploads = async () => (await pool.query('select from write.upload')).rowCount
  await deleteUnused(deps)
  t.is(await uploads(), 1)
  const [died, first, second] = [await perform(), await perform(), await perform()]
  t.truthy(died)
  await first()
  await second()
  t.deepEqual(await eventsOf({ pool }, run_id), ['run.deleted', 'run.purged'])
  await deleteUnused(deps)
  t.is(await uploads(), 0, 'its files in the store go')
  await runForgetter.perform({ ...duty, payload: { run_id } }, deps, new AbortController().signal)
})
