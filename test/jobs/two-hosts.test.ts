import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { startForgeProcess } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

test("a second host neither declares the first one's job lost nor redescribes its profile", async t => {
  t.timeout(patient(400_000))
  const forge = await startForgeProcess(t, { SERVICE_LOCAL_GPUS: '2' })
  const folder = await mkdtemp(join(tmpdir(), 'forge-second-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  const gpus = async () => {
    const { rows } = await forge.pool.query(
      `select gpus_per_node from write.profile where name = 'local'`,
    )
    return rows[0]?.gpus_per_node
  }
  const job = async (run_id: string) => {
    const { rows } = await forge.pool.query(
      'select state, attempt, is_active from write.job_state where run_id = $1',
      [run_id],
    )
    return rows[0]
  }
  await forge.another({ SERVICE_DATA_DIR: folder, SERVICE_LOCAL_GPUS: '7' })
  t.is(await gpus(), 2, 'the standby leaves the profile alone')
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { body: submitted } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: 'two hosts', project: 'demo' },
      lock,
      spec: {
        params: { epochs: 10_000 },
        limits: { stop_grace_s: 5 },
        retry: { max_attempts: 3, on: ['node_failure'], backoff_s: 0 },
      },
    },
  })
  const { run_id } = submitted
  const isRunning = async () => ['starting', 'running'].includes((await job(run_id))?.state)
  await until('it runs', 90_000, isRunning)
  await forge.kill()
  await until('the second host starts jobs now', 60_000, async () => (await gpus()) === 7)
  const passedAt = async () => {
    const { rows } = await forge.pool.query('select max(seen_at) as at from write.engine')
    return rows[0].at.getTime()
  }
  const tookOver = await passedAt()
  await until('it has looked for jobs', 60_000, async () => (await passedAt()) > tookOver + 5_000)
  t.like(await job(run_id), { attempt: 1, is_active: true })
  t.true(await isRunning())
  await forge.start()
  t.is((await forge.call('POST', `/api/jobs/${run_id}/stop`)).status, 200)
  await until('its own host has stopped it', 60_000, async () => {
    return (await job(run_id))?.state === 'stopped'
  })
  t.like(await job(run_id), { attempt: 1, is_active: false })
})
