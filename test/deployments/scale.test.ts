import test from 'ava'
import { load } from '../gateway/load.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { trainedModel } from '../serving/replicas.ts'

type Deployment = {
  state: string
  state_reason: string | null
  suspended_by: string | null
  base_url: string
  replicas: { min: number; max: number; ready: number; desired: number }
  autoscaling: object
}

test('engines are added and removed with demand, no request fails, and an idle deployment is suspended', async t => {
  t.timeout(patient(500_000))
  const forge = await startForge(t)
  const artifact_id = await trainedModel(forge)
  const { status, body } = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', {
    body: {
      ...{ name: 'scaled', source: { kind: 'artifact', artifact_id } },
      ...{ serving: { template: 'tiny-lm' }, replicas: { min: 1, max: 2 } },
      autoscaling: { metric: 'concurrency', target: 2, up_window_s: 2, down_window_s: 5 },
    },
  })
  t.is(status, 200, JSON.stringify(body))
  const path = `/api/deployments/${body.deployment_id}`
  const untilIt = (what: string, is: (one: Deployment) => boolean) =>
    until(what, 120_000, async () => {
      const { body: one } = await forge.call<Deployment>('GET', path)
      if (one.state === 'failed') throw new Error(JSON.stringify(one))
      return is(one) && one
    })
  const { base_url } = await untilIt('one engine is ready', one => one.replicas.ready === 1)
  const { body: token } = await forge.call<{ token: string }>('POST', `${path}/tokens`, {
    body: { name: 'a' },
  })
  const ask = (callers: number, max_tokens: number, restMs: number) =>
    load({
      restMs,
      ...{ urls: [forge.url], path: `${new URL(base_url).pathname}/completions`, callers },
      ...{
        token: token.token,
        body: JSON.stringify({ model: 'default', prompt: 'x', max_tokens }),
      },
    })

  const busy = ask(8, 400, 0)
  await untilIt('a second engine is ready', one => one.replicas.ready === 2)
  await busy.stop()
  // Without a pause it would keep the processors busy for as long as an engine ends.
  const quiet = ask(1, 10, 50)
  const alone = await untilIt('one engine is left', ({ replicas }) => replicas.desired === 1)
  t.is(alone.replicas.ready, 1)
  await until('the job of the other has ended', 60_000, async () => {
    const { rows } = await forge.pool.query(
      `select 1 from write.replica r join write.job_state j using (run_id) where r.state = 'ended' and j.state = 'stopped'`,
    )
    return rows.length === 1
  })
  const before = quiet.asked.length
  await until('the remaining engine serves', 20_000, () => quiet.asked.length > before + 5)
  await quiet.stop()
  const all = [...busy.asked, ...quiet.asked]
  t.deepEqual([...new Set(all.map(one => `${one.status} ${one.isWhole}`))], ['200 true'])

  const autoscaling = { idle_suspend_s: 10 }
  t.is((await forge.call('PATCH', path, { body: { autoscaling } })).status, 200)
  const idle = await untilIt('it is suspended', one => one.state === 'suspended')
  t.like(idle, {
    ...{ state_reason: 'no request for 10 s', suspended_by: 'serving-keeper' },
    autoscaling: { target: 2, up_window_s: 2, down_window_s: 5, idle_suspend_s: 10 },
  })
  await forge.call('POST', `${path}/resume`)
  await untilIt('it serves again', one => one.state === 'ready')
  const once = await fetch(`${forge.url}${new URL(base_url).pathname}/models`, {
    headers: { authorization: `Bearer ${token.token}` },
  })
  t.is(once.status, 200)
  t.log(`${all.length} requests while engines came and went`)
})
