import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { keyFolder } from '../../auth/key-folder.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { openEnv, sealEarlierEnvs } from '../../command-api/jobs/sealed-env.ts'
import { until } from '../servers/until.ts'
import { jobsWithExecutor } from './jobs-with-executor.ts'

// One test at a time, because each starts processes.
const stored = 'select env, sealed_env from write.job_state where run_id = $1'
const given = { HUB_TOKEN: 'hunter2', REMOTE: 'https://me:hunter2@hub.test/', NCCL_DEBUG: 'WARN' }

test.serial('the process of a job gets the secrets that its row has only sealed', async t => {
  const script = 'echo "$HUB_TOKEN $REMOTE $NCCL_DEBUG"'
  const at = await jobsWithExecutor(t, { script })
  const { run_id } = await at.submit({ env: given })
  const { rows } = await at.pool.query(stored, [run_id])
  t.deepEqual(rows[0].env, { NCCL_DEBUG: 'WARN' })
  t.false(JSON.stringify(rows).includes('hunter2'))
  at.reconcile()
  await at.untilState(run_id, 'starting')
  t.is(
    await until('it has printed', 60_000, async () => (await at.printed(run_id)) || null),
    'hunter2 https://me:hunter2@hub.test/ WARN\n',
  )
})

test.serial('rows of earlier versions are sealed at the start of a server', async t => {
  const at = await jobsWithExecutor(t)
  const { sealing } = at.deps
  const [secret, plain, ended] = [await at.submit(), await at.submit(), await at.submit()]
  const write = (run_id: string, env: object) =>
    at.pool.query('update write.job_state set env = $2 where run_id = $1', [run_id, env])
  await write(secret.run_id, given)
  await write(plain.run_id, { NCCL_DEBUG: 'WARN' })
  await sealEarlierEnvs(at.pool, sealing)
  await sealEarlierEnvs(at.pool, sealing)
  const rowOf = async (run_id: string) => (await at.pool.query(stored, [run_id])).rows[0]
  const row = await rowOf(secret.run_id)
  t.deepEqual(row.env, { NCCL_DEBUG: 'WARN' })
  t.deepEqual(await openEnv(row, secret.run_id, sealing), given)
  t.deepEqual(await rowOf(plain.run_id), { env: { NCCL_DEBUG: 'WARN' }, sealed_env: null })
  t.deepEqual(await rowOf(ended.run_id), { env: {}, sealed_env: null })
})

test.serial('a job whose secrets cannot be opened is not launched without them', async t => {
  const at = await jobsWithExecutor(t)
  const { run_id } = await at.submit({ env: given })
  const { rows } = await at.pool.query(stored, [run_id])
  const folder = await mkdtemp(join(tmpdir(), 'forge-sealing-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const others = await openSealingKeys(await keyFolder(folder), at.now())
  await t.throwsAsync(openEnv(rows[0], run_id, others), {
    message: /sealed with a key that this server does not have: restore <data>\/keys/,
  })
  await at.commands.schedule(run_id, [0])
  at.deps.sealing.open = others.open
  await t.throwsAsync(at.commands.launch(run_id, 1), { message: /were sealed with a key/ })
})
