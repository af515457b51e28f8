import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { withoutExecutor } from '../usage/jobs-at-times.ts'
import {
  endJob,
  make,
  prepared,
  read,
  runJob,
  runsOf,
  specFor,
  submit,
  untilLive,
  untilState,
} from './steps.ts'

type Waiting = { approval_ids: string[] }

const forgeOf = sharedForge(withoutExecutor)
const ready = async () => {
  const forge = await forgeOf()
  await prepared(forge)
  return forge
}

test.serial('a stage starts from the newest checkpoint of the one before, each once', async t => {
  const forge = await ready()
  const spec = await specFor(forge, 'chain')
  const { status, body } = await make(forge, {
    name: 'two stages',
    stages: [
      { name: 'first', spec },
      { name: 'second', spec, init_from_stage: 'first', load: 'full_state' },
    ],
  })
  t.is(status, 200, JSON.stringify(body))
  t.like(body, { state: 'ready', estimate: { gpu_hours: '2.00' } })
  t.true(body.gates.every(({ ok }) => ok))
  const [one, other] = await Promise.all([submit(forge, body.plan_id), submit(forge, body.plan_id)])
  t.deepEqual([one.status, other.status], [200, 200], JSON.stringify(one.body))
  t.deepEqual(one.body, other.body)
  const [first, second] = one.body.submitted_run_ids
  t.is(one.body.submitted_run_ids.length, 2)
  t.deepEqual(await untilLive(forge, body.plan_id, 1), [first])
  const run = await runJob(forge, first ?? '', { checkpoint: '/c/1', loss: [3, 2, 1] })
  await endJob(forge, run)
  t.deepEqual(await untilLive(forge, body.plan_id, 1), [second])
  const job = await forge.call<{ spec: { spec: { init_from: object } } }>(
    'GET',
    `/api/jobs/${second}`,
  )
  const { rows } = await forge.pool.query(
    `select artifact_id from write.artifact where run_id = $1`,
    [first],
  )
  t.like(job.body.spec.spec.init_from, { ...rows[0], load: 'full_state' })
  await endJob(forge, await runJob(forge, second ?? ''))
  const plan = await untilState(forge, body.plan_id, 'succeeded')
  t.deepEqual(
    plan.stages.map(({ state, runs, succeeded }) => [state, runs, succeeded]),
    [
      ['succeeded', 1, 1],
      ['succeeded', 1, 1],
    ],
  )
  t.deepEqual((await submit(forge, body.plan_id)).body.submitted_run_ids, [first, second])
  const found = await forge.call<unknown[]>('GET', `/api/runs?q=label.plan:${body.plan_id}`)
  t.is(found.body.length, 2, 'its runs are a group')
})

test.serial('a failed stage blocks the plan until it is submitted again', async t => {
  const forge = await ready()
  const spec = await specFor(forge, 'blocked')
  const stages = [
    { name: 'first', spec },
    { name: 'second', spec, init_from_stage: 'first' },
  ]
  const { plan_id } = (await make(forge, { stages })).body
  await submit(forge, plan_id)
  const [failing = ''] = await untilLive(forge, plan_id, 1)
  await endJob(forge, await runJob(forge, failing), 'failed')
  const blocked = await untilState(forge, plan_id, 'blocked')
  t.is(blocked.reason, `stage first: run ${failing} failed`)
  t.deepEqual(
    (await runsOf(forge, plan_id)).map(({ state }) => state),
    ['failed'],
  )
  t.is((await submit(forge, plan_id)).status, 200)
  const [again = ''] = await untilLive(forge, plan_id, 1)
  t.not(again, failing)
  await endJob(forge, await runJob(forge, again))
  const without = await untilState(forge, plan_id, 'blocked')
  t.regex(without.reason ?? '', /has registered no checkpoint/)
  t.deepEqual(
    without.stages.map(({ state }) => state),
    ['succeeded', 'blocked'],
  )
})

test.serial('what moved since a plan was made is listed, and accepted by its digest', async t => {
  const forge = await ready()
  const spec = await specFor(forge, 'moved')
  const { plan_id, digest } = (await make(forge, { spec })).body
  await forge.call('PUT', '/api/admin/profiles/spare', {
    body: { series: 'X', gpus_per_node: 8, executor: 'local', price_per_gpu_hour: '4' },
  })
  const refused = await submit(forge, plan_id)
  t.is(refused.status, 409)
  t.like(refused.body, { code: 'plan.moved' })
  const { moved } = refused.body.data
  t.is(moved.length, 1)
  t.like(moved[0], { stage: 'job', what: 'price', name: 'spare' })
  t.is((await submit(forge, plan_id, { accept: digest })).status, 409)
  t.is((await submit(forge, plan_id, { accept: refused.body.data.digest })).status, 200)
  const [run_id = ''] = await untilLive(forge, plan_id, 1)
  t.is((await read(forge, plan_id)).digest, refused.body.data.digest)
  const cancelled = await forge.call('POST', `/api/plans/${plan_id}/cancel`)
  t.is(cancelled.status, 200)
  await untilState(forge, plan_id, 'cancelled')
  const job = await forge.call('GET', `/api/jobs/${run_id}`)
  t.is(job.status, 200)
  t.is((await submit(forge, plan_id)).status, 409)
})

test.serial(
  'a plan that matches a rule waits for one approval of all of it, and its jobs for none',
  async t => {
    const forge = await ready()
    const alice = await signedIn(forge, 'plan-alice')
    const spec = await specFor(forge, 'plan-approved')
    const stages = [
      { name: 'first', spec },
      { name: 'second', spec: { ...spec, metadata: { ...spec.metadata, name: 'other' } } },
    ]
    const { plan_id, digest } = (await make(forge, { stages }, alice)).body
    await forge.call('PUT', '/api/approval-rules/any', {
      body: { when: { on: 'gpus', gpus: 1 }, who: { role: 'admin' } },
    })
    const waits = await submit(forge, plan_id, {}, alice)
    t.deepEqual([waits.status, waits.body.code], [409, 'approval.required'])
    const [approval_id = '', ...others] = (waits.body.data as unknown as Waiting).approval_ids
    t.deepEqual(others, [])
    t.deepEqual(
      ((await submit(forge, plan_id, {}, alice)).body.data as unknown as Waiting).approval_ids,
      [approval_id],
      'asked for once',
    )
    t.is((await read(forge, plan_id)).state, 'ready')
    const shown = await until('the request can be read', 30_000, async () => {
      const { status, body } = await forge.call<{ content: object }>(
        'GET',
        `/api/approvals/${approval_id}`,
      )
      return status === 200 && body
    })
    t.like(shown.content, { plan_id, digest })
    t.is((await read(forge, plan_id)).approval_id, approval_id)
    const decide = () =>
      forge.call('POST', `/api/approvals/${approval_id}/decide`, {
        body: { decision: 'approved', comment: '' },
      })
    t.like((await decide()).body, { state: 'approved', changed: true })
    t.like((await decide()).body, { state: 'approved', changed: false })
    t.is((await untilState(forge, plan_id, 'submitted')).submitted_by, 'plan-alice')
    const [first = ''] = await untilLive(forge, plan_id, 1)
    await endJob(forge, await runJob(forge, first))
    const [second = ''] = await untilLive(forge, plan_id, 1)
    t.not(second, first)
    const { rows } = await forge.pool.query('select state from write.job_state where run_id = $1', [
      second,
    ])
    t.deepEqual(rows, [{ state: 'queued' }], 'approved with the plan')
    await endJob(forge, await runJob(forge, second))
    await untilState(forge, plan_id, 'succeeded')
    await forge.call('DELETE', '/api/approval-rules/any')
  },
)
