import test from 'ava'
import { runsToStop } from '../../command-api/plans/early-stop.ts'
import { assignmentsOf, countRuns } from '../../command-api/plans/sweep.ts'
import type { SweepInput } from '../../schemas/plans.ts'
import { dutyNow } from '../servers/duty-now.ts'
import { sharedForge } from '../servers/forge.ts'
import { until } from '../servers/until.ts'
import { withoutExecutor } from '../usage/jobs-at-times.ts'
import {
  endJob,
  make,
  prepared,
  runJob,
  runsOf,
  specFor,
  submit,
  untilLive,
  untilState,
} from './steps.ts'

const forgeOf = sharedForge(withoutExecutor)

const sweepOf = (more: Partial<SweepInput>): SweepInput => ({
  ...{ method: 'grid', params: {}, seed: 0, max_parallel: 4, metric: null, early_stop: null },
  ...more,
})

test('a grid is every combination, and a random sweep repeats its draws by its seed', t => {
  const params = { a: { values: [1, 2] }, b: { values: ['x', 'y', 'z'] } }
  const grid = assignmentsOf(sweepOf({ params }))
  t.is(countRuns(sweepOf({ params })), 6)
  t.deepEqual(grid.slice(0, 4), [
    { a: 1, b: 'x' },
    { a: 1, b: 'y' },
    { a: 1, b: 'z' },
    { a: 2, b: 'x' },
  ])
  const drawing = {
    lr: { min: 1e-5, max: 1e-1, scale: 'log' as const },
    layers: { min: 1, max: 4, integer: true },
    kind: { values: ['a', 'b'] },
  }
  const random = (seed: number) =>
    assignmentsOf(sweepOf({ method: 'random', count: 400, seed, params: drawing }))
  t.deepEqual(random(7), random(7))
  t.notDeepEqual(random(7), random(8))
  const rates = random(7).map(({ lr }) => Number(lr))
  t.true(rates.every(lr => lr >= 1e-5 && lr < 1e-1))
  const below = rates.filter(lr => lr < 1e-3).length
  t.true(below > 150 && below < 250, `${below} of 400 in the lower half of the logarithm`)
  t.deepEqual([...new Set(random(7).map(({ layers }) => layers))].sort(), [1, 2, 3, 4])
})

test('a run is stopped if its best is worse than the median of the others by its step', t => {
  const curve = (...values: number[]) =>
    values.map((value, step) => ({ step, min: value, max: value }))
  const curves = new Map([
    ['good', curve(5, 4, 3, 2)],
    ['fair', curve(5, 4, 4, 4)],
    ['slow', curve(9, 9)],
    ['bad', curve(9, 8, 8, 8)],
  ])
  const rule = { min_step: 2, min_runs: 2, goal: 'min' as const }
  const all = [...curves.keys()]
  t.deepEqual(
    runsToStop(curves, all, rule).map(({ run_id }) => run_id),
    ['bad'],
  )
  t.deepEqual(
    runsToStop(curves, all, { ...rule, min_step: 0 }).map(({ run_id }) => run_id),
    ['slow', 'bad'],
  )
  t.deepEqual(runsToStop(curves, all, { ...rule, min_runs: 3 }), [])
  t.is(runsToStop(curves, all, { ...rule, goal: 'max' })[0]?.run_id, 'good')
})

test.serial(
  'a sweep of 12 runs keeps to max_parallel, stops a bad one, and finds the best',
  async t => {
    const forge = await forgeOf()
    await prepared(forge)
    const spec = await specFor(forge, 'sweeping')
    const sweep = {
      method: 'grid',
      params: { lr: { values: [0.1, 0.2, 0.3, 0.4] }, seed: { values: [1, 2, 3] } },
      max_parallel: 3,
      metric: { key: 'loss', goal: 'min' },
      early_stop: { min_step: 2, min_runs: 2 },
    }
    const stages = [
      { name: 'search', spec, sweep },
      { name: 'more', spec, init_from_stage: 'search' },
    ]
    const { plan_id } = (await make(forge, { stages })).body
    const { status, body } = await submit(forge, plan_id)
    t.is(status, 200, JSON.stringify(body))
    t.is(new Set(body.submitted_run_ids).size, 13)
    const first = await untilLive(forge, plan_id, 3)
    const good = [first[0] ?? '', first[1] ?? '']
    const bad = first[2] ?? ''
    const running = await Promise.all(
      good.map((run_id, nth) =>
        runJob(forge, run_id, { checkpoint: `/c/${run_id}`, loss: [3, 2, nth] }),
      ),
    )
    const stopped = await runJob(forge, bad, { loss: [9, 9, 9] })
    await until('the bad run is asked to stop', 30_000, async () => {
      await dutyNow(forge, 'watch-sweeps', {})
      const job = await forge.call<{ state: string }>('GET', `/api/jobs/${bad}`)
      return job.body.state === 'stopping'
    })
    await endJob(forge, stopped, 'failed')
    for (const run of running) await endJob(forge, run)
    for (let left = 9; left > 0; left--) {
      const live = await untilLive(forge, plan_id, Math.min(3, left))
      t.true(live.length <= 3)
      await endJob(forge, await runJob(forge, live[0] ?? '', { loss: [3, 3, 3] }))
    }
    const [last = ''] = await until('the second stage runs', 30_000, async () => {
      const runs = (await runsOf(forge, plan_id)).filter(({ stage }) => stage === 'more')
      return runs.length > 0 && runs.map(({ run_id }) => run_id)
    })
    await untilLive(forge, plan_id, 1)
    await endJob(forge, await runJob(forge, last))
    const plan = await untilState(forge, plan_id, 'succeeded')
    t.is(plan.stages[0]?.best_run_id, good[0])
    t.like(plan.stages[0], { runs: 12, succeeded: 11, failed: 1 })
    const found = await forge.call<{ run_id: string }[]>(
      'GET',
      `/api/runs?q=label.plan:${plan_id} label.plan-stage:search&sort=metric:loss:min`,
    )
    t.is(found.body.length, 12)
    t.is(found.body[0]?.run_id, good[0], 'the best is found in the workspace')
  },
)
