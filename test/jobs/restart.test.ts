import test from 'ava'
import { type Forge, startForgeProcess } from '../servers/forge.ts'
import { until } from '../servers/until.ts'

type JobDetail = {
  state: string
  attempt: number
  transitions: { to: string }[]
  attempts: { attempt: number }[]
}

const read = async (forge: Forge, runId: string) =>
  (await forge.call<JobDetail>('GET', `/api/jobs/${runId}`)).body

test('a killed server finds its run again, the same attempt, and can still stop it', async t => {
  const forge = await startForgeProcess(t)
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { body: job } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: 'restart', project: 'demo' },
      lock,
      spec: { params: { epochs: 10_000 }, limits: { stop_grace_s: 5 } },
    },
  })
  await until('it runs', 60_000, async () => {
    const { state } = await read(forge, job.run_id)
    return state === 'starting' || state === 'running'
  })
  await forge.kill()
  await forge.start()
  const { body: stopping } = await forge.call('POST', `/api/jobs/${job.run_id}/stop`)
  t.is(stopping.state, 'stopping')
  await until('it has stopped', 60_000, async () => {
    const { state } = await read(forge, job.run_id)
    return state === 'stopped'
  })
  const { attempts, transitions } = await read(forge, job.run_id)
  t.deepEqual(
    attempts.map(({ attempt }) => attempt),
    [1],
  )
  t.is(transitions.filter(({ to }) => to === 'scheduled').length, 1)
  await until('its log is closed', 30_000, async () => {
    const { body } = await forge.call('GET', `/api/jobs/${job.run_id}/logs/stream`, {
      headers: { accept: 'text/event-stream' },
    })
    return String(body).includes('event: eof')
  })
})
