import test from 'ava'
import type { HparamTables } from '../../projector/hparams/table.ts'
import { correlate } from '../../query-api/workspace/correlation.ts'
import { importances } from '../../query-api/workspace/forest.ts'
import { readColumns } from '../../query-api/workspace/importance.ts'
import { importancesInThread } from '../../query-api/workspace/in-thread.ts'
import { startForge } from '../servers/forge.ts'
import { database } from '../servers/postgres.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** The columns of importance.py. */
function columns(rows: number) {
  const random = uniform(7)
  const features = Array.from({ length: 6 }, () => new Float64Array(rows))
  const target = new Float64Array(rows)
  for (let row = 0; row < rows; row++) {
    const given = Array.from({ length: 5 }, random)
    const layers = Math.floor(random() * 4)
    const noise = random() - 0.5
    for (const [f, column] of features.entries()) column[row] = given[f] ?? layers
    const [lr = 0, decay = 0] = given
    target[row] = 5 * (lr - 0.3) ** 2 + decay + 0.2 * layers + 0.1 * noise
  }
  return { features, target }
}

/** As scikit-learn 1.9.1 and SciPy compute them: `python importance.py`. */
const reference = {
  importance: [0.63, 0.17, 0.04, 0.051, 0.038, 0.07],
  pearson: [0.684985847, 0.362569747, -0.00933256, -0.015910086, 0.045612518, 0.272391012],
  spearman: [0.59282733, 0.445767724, 0.004440215, -0.03719742, 0.033946712, 0.31349997],
}

test('importances agree with scikit-learn, and are the same for the same seed', t => {
  const { features, target } = columns(400)
  const shares = importances({ features, target, seed: 1, trees: 100 })
  for (const [f, share] of shares.entries())
    t.true(Math.abs(share - (reference.importance[f] ?? 0)) < 0.03, `${f}: ${share}`)
  t.deepEqual(importances({ features, target, seed: 1, trees: 100 }), shares)
  t.notDeepEqual(importances({ features, target, seed: 2, trees: 100 }), shares)
})

test('correlations agree with SciPy', t => {
  const { features, target } = columns(400)
  for (const [f, column] of features.entries()) {
    const found = correlate([...column], [...target])
    for (const kind of ['pearson', 'spearman'] as const)
      t.true(Math.abs((found?.[kind] ?? 9) - (reference[kind][f] ?? 0)) < 1e-8, `${kind} ${f}`)
  }
  t.is(correlate([1, 1, 1], [1, 2, 3]), null)
  t.deepEqual(correlate([1, 2, 2, 4], [1, 2, 2, 4]), { pearson: 1, spearman: 1 })
})

test('nothing matters where the metric is the same in all runs', t => {
  const { features } = columns(50)
  const target = new Float64Array(50).fill(3)
  t.deepEqual(importances({ features, target, seed: 0, trees: 10 }), [0, 0, 0, 0, 0, 0])
})

test('2,000 runs with 50 hyperparameters hold up the event loop by less than 50 ms', async t => {
  const random = uniform(1)
  const features = Array.from({ length: 50 }, () => Float64Array.from({ length: 2000 }, random))
  const target = Float64Array.from({ length: 2000 }, random)
  // Processor time of this thread, which other programs do not take from it.
  const busyMs = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  let busiest = 0
  let before = busyMs()
  const timer = setInterval(() => {
    const now = busyMs()
    busiest = Math.max(busiest, now - before)
    before = now
  }, 1)
  const shares = await importancesInThread({ features, target, seed: 0, trees: 100 })
  clearInterval(timer)
  t.true(Math.abs(shares.reduce((a, b) => a + b, 0) - 1) < 1e-9)
  t.true(busiest < 50, `${busiest} ms`)
})

type Importance = {
  matched: number
  runs: number
  hparams: {
    key: string
    runs: number
    distinct: number
    importance: number
    correlation: object | null
  }[]
}

test('the hyperparameters of a project are ranked for a metric, for readers of the project only', async t => {
  const forge = await startForge(t)
  for (let n = 0; n < 12; n++) {
    const run = await createRun(forge)
    const params = { lr: n, fixed: 1, amp: n % 2 === 0, name: ['sgd', 'adam', 'lion'][n % 3] }
    await ingest(forge, run, 'hparams', { params })
    const points = [{ key: 'loss', step: 1, value: 2 * n, ts: '2026-11-20T12:00:00Z' }]
    await ingest(forge, run, 'metrics', { points })
  }
  const failed = await createRun(forge)
  const nan = [{ key: 'loss', step: 1, value: 'NaN', ts: '2026-11-20T12:00:00Z' }]
  await ingest(forge, failed, 'metrics', { points: nan })
  const path = '/api/projects/demo/importance?metric=loss:last'
  const found = await until('all runs are compared', 20_000, async () => {
    const { body } = await forge.call<Importance>('GET', path)
    return body.runs === 12 && body.hparams.length === 3 && body.hparams[0]?.runs === 12
      ? body
      : null
  })
  t.is(found.matched, 13)
  t.deepEqual(found.hparams.map(({ key }) => key).sort(), ['amp', 'lr', 'name'])
  t.like(found.hparams[0], { key: 'lr', distinct: 12, correlation: { pearson: 1, spearman: 1 } })
  t.is(found.hparams.find(({ key }) => key === 'name')?.correlation, null)
  t.not(found.hparams.find(({ key }) => key === 'amp')?.correlation, null)
  t.like((await forge.call<Importance>('GET', `${path}&q=hparams.lr<3`)).body, { runs: 3 })
  t.deepEqual(
    (await forge.call<Importance>('GET', '/api/projects/demo/importance?metric=x:max')).body
      .hparams,
    [],
  )
  t.is((await forge.call('GET', '/api/projects/demo/importance?metric=loss')).status, 422)
  const token = await signedIn(forge, 'bob')
  t.is((await forge.call('GET', path, { token })).status, 404)
})

test('only compared hyperparameters leave the database', async t => {
  const { pool, kysely } = await database<HparamTables>(t, { schema: 'read' })
  await pool.query(
    `insert into run_hparam_values (run_id, key, text, number)
     select 'run_' || r, 'k' || to_char(k, 'FM000'), (r * k)::text, r * k
       from generate_series(1, 20) r, generate_series(1, 300) k where k % 3 > 0 or r > 5
      union all select 'run_' || r, 'same', case when r % 2 = 0 then '0.1' else '1e-1' end, 0.1
       from generate_series(1, 20) r`,
  )
  let rows = 0
  const db = kysely.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rows += result.rows.length
      return result
    },
  })
  const runIds = Array.from({ length: 20 }, (_, at) => `run_${at + 1}`)
  const { columns, differing } = await readColumns(db, runIds)
  t.is(differing, 300)
  t.is(columns.length, 50)
  t.is(columns[0]?.key, 'k001')
  t.true(
    columns.every(({ values, distinct }) => values.size === 20 && distinct === 20),
    'hyperparameters of all runs come first',
  )
  t.is(rows, 50 * 20)
})
