import test from 'ava'
import type { Refusal } from '../../platform/refusal.ts'
import { keepUses, registered } from '../command-api/uses.ts'
import { endedWell } from '../servers/as-executor.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'

type Known = { artifact_id: string; step: number; metrics: Record<string, number> }

/** Registers checkpoints of a run, as its code would. */
async function register(
  at: JobsWithExecutor,
  run_id: string,
  artifacts: readonly Known[],
): Promise<void> {
  for (const { artifact_id, step, metrics } of artifacts) {
    const path = `/checkpoints/${artifact_id}`
    await at.pool.query(
      `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
       values ($1, $2, 'checkpoint', $3, $4, 'npz')`,
      [artifact_id, run_id, path, step],
    )
    await keepUses(at.pool, [registered(artifact_id, run_id)])
    await at.pool.query(
      `insert into write.event (event_id, stream, stream_version, type, schema_version, data, meta, occurred_at)
       values (gen_random_uuid(), $1, 1, 'artifact.registered', 1, $2, '{}', now())`,
      [`artifact-${artifact_id}`, JSON.stringify({ artifact_id, run_id, step, metrics })],
    )
  }
}

const source = async (at: JobsWithExecutor, metric: Record<string, unknown> | null) => {
  const { run_id, short_id } = await at.submit({ checkpoints: { metric } })
  return { run_id, short_id }
}

const from = async (at: JobsWithExecutor, init_from: Record<string, unknown>, username = 'ada') =>
  at.submit({ init_from }, { username }).then(
    ({ resolved }) => resolved.init_from?.artifact_id,
    (error: Refusal) => error.detail,
  )

const checkpoints: Known[] = [
  { artifact_id: 'art_1', step: 100, metrics: { loss: 0.2 } },
  { artifact_id: 'art_2', step: 200, metrics: { loss: 0.1 } },
  { artifact_id: 'art_3', step: 300, metrics: { loss: 0.3 } },
  { artifact_id: 'art_4', step: 250, metrics: {} },
]

test('init_from is resolved at admission', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id, short_id } = await source(at, { key: 'loss', goal: 'min' })
  await register(at, run_id, checkpoints)
  t.is(await from(at, { artifact_id: 'art_4' }), 'art_4')
  t.is(await from(at, { artifact_id: 'art_4', run_id }), 'art_4')
  t.is(await from(at, { run_id }), 'art_3')
  t.is(await from(at, { run_id: short_id, select: 'latest' }), 'art_3')
  t.is(await from(at, { run_id, select: 'best' }), 'art_2')
  t.is(await from(at, { run_id, select: { step: 100 } }), 'art_1')
  const { resolved } = await at.submit({ init_from: { run_id, select: 'best' } })
  t.deepEqual(resolved.init_from, { artifact_id: 'art_2', run_id, path: '/checkpoints/art_2' })
})

test('best follows the goal of the run, and needs one', async t => {
  const at = await jobsWithExecutor(t)
  const highest = await source(at, { key: 'loss', goal: 'max' })
  await register(at, highest.run_id, checkpoints)
  t.is(await from(at, { run_id: highest.run_id, select: 'best' }), 'art_3')
  const without = await source(at, null)
  await register(at, without.run_id, [{ artifact_id: 'art_9', step: 1, metrics: { loss: 1 } }])
  t.is(
    await from(at, { run_id: without.run_id, select: 'best' }),
    `Run ${without.run_id} has no artifact to start from (best)`,
  )
})

test('missing artifacts and artifacts hidden from the submitter are named', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await source(at, null)
  await register(at, run_id, checkpoints)
  t.is(await from(at, { artifact_id: 'art_7' }), 'No such artifact: art_7')
  t.is(
    await from(at, { artifact_id: 'art_1', run_id: 'run_x' }),
    'No such artifact: art_1 of run_x',
  )
  t.is(
    await from(at, { run_id, select: { step: 7 } }),
    `Run ${run_id} has no artifact to start from (step 7)`,
  )
  t.is(await from(at, { model: 'name@7' }), 'init_from.model: No such model version: name@7')
  t.is(await from(at, {}), 'init_from names neither an artifact_id nor a run_id')
  t.is(await from(at, { artifact_id: 'art_1' }, 'eve'), 'No such artifact: art_1')
  await at.pool.query(`update write.project set visibility = 'internal' where name = 'of-ada'`)
  t.is(await from(at, { artifact_id: 'art_1' }, 'eve'), 'art_1')
})

test('no job can start from a report', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await source(at, null)
  await register(at, run_id, checkpoints)
  await at.pool.query(`update write.artifact set kind = 'eval_report' where artifact_id = 'art_3'`)
  t.is(await from(at, { artifact_id: 'art_3' }), 'No such artifact: art_3')
  t.is(await from(at, { run_id }), 'art_4')
})

test('a further attempt gets the newest checkpoint', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit({ init_from: null, retry: { max_attempts: 2, backoff_s: 0 } })
  await at.commands.schedule(run_id, [0])
  t.is((await at.commands.launch(run_id, 1)).resume_from, null)
  await register(at, run_id, checkpoints)
  const started_at = at.now().toISOString()
  const { exit } = endedWell(started_at)
  await at.commands.exited(run_id, 1, { started_at, exit: { ...exit, exit_code: null } })
  t.is(await at.commands.schedule(run_id, [0]), 'scheduled')
  t.is((await at.commands.launch(run_id, 2)).resume_from, '/checkpoints/art_3')
})

test("an attempt's starting artifact is fetched from the store, regardless of which job stored it", async t => {
  const at = await jobsWithExecutor(t)
  const other = await source(at, null)
  await register(at, other.run_id, [{ artifact_id: 'art_0', step: 1, metrics: {} }])
  const init_from = { artifact_id: 'art_0' }
  const { run_id } = await at.submit({ init_from, retry: { max_attempts: 2, backoff_s: 0 } })
  await register(at, run_id, checkpoints)
  await at.commands.schedule(run_id, [0])
  t.deepEqual((await at.commands.launch(run_id, 1)).stored, [], 'they are paths')
  const sha256 = 'ab'.repeat(32)
  await at.pool.query(
    `update write.artifact set sha256 = $1, size_bytes = 7, path = 'forge://r/upl_1/' || $2 where artifact_id = 'art_0'`,
    [sha256, 'a%20model'],
  )
  await at.pool.query(
    `update write.artifact set sha256 = $1, size_bytes = 8, path = 'forge://r/upl_2/' || $2 where artifact_id = 'art_3'`,
    [sha256, 'x'.repeat(256)],
  )
  const started_at = at.now().toISOString()
  const { exit } = endedWell(started_at)
  await at.commands.exited(run_id, 1, { started_at, exit: { ...exit, exit_code: null } })
  await at.commands.schedule(run_id, [0])
  const { stored } = await at.commands.launch(run_id, 2)
  t.deepEqual(
    stored.map(({ variable, artifact: { artifact_id, filename, size_bytes } }) => ({
      ...{ variable, artifact_id, filename, size_bytes },
    })),
    [
      { variable: 'FORGE_INIT_FROM', artifact_id: 'art_0', filename: 'a model', size_bytes: 7 },
      { variable: 'FORGE_RESUME_FROM', artifact_id: 'art_3', filename: 'art_3', size_bytes: 8 },
    ],
  )
})
