import test from 'ava'
import type { Reply } from '../servers/api.ts'
import { startForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

/** More than the number up to which lists count. */
const copies = 10_010

type Listed = { run_id: string; name: string }

test('lists continue past the number up to which they count, even sorted by a metric that not every run has', async t => {
  const forge = await startForge(t)
  const [measured, other] = [await createRun(forge, 'many'), await createRun(forge, 'many')]
  await ingest(forge, measured, 'metrics', { points: [{ key: 'acc', step: 1, value: 0.5 }] })
  const sorted = 'project=many&sort=metric:acc:last'
  const list = (query: string) => forge.call<Listed[]>('GET', `/api/runs?${query}`)
  await until('the metric is known', 30_000, async () => {
    const { rows } = await forge.pool.query('select from read.latest_of_runs')
    return rows.length === 1 && (await list(sorted)).body.length === 2
  })
  // A few at a time: no other test's server publishes past an open transaction.
  for (let first = 1; first <= copies; first += 1_000) {
    const these = [measured.run_id, first, Math.min(copies, first + 999)]
    await forge.pool.query(
      `insert into read.runs
       select (jsonb_populate_record(r, jsonb_build_object('run_id', 'copy-' || n, 'short_id', 'many-' || n + 2))).*
         from read.runs r, generate_series($2::int, $3::int) n where run_id = $1`,
      these,
    )
    for (const table of ['metric_run', 'metric_latest'])
      await forge.pool.query(
        `insert into read.${table}
         select (jsonb_populate_record(m, jsonb_build_object('run_id', 'copy-' || n, 'run_no', 1000000 + n))).*
           from read.${table} m, generate_series($2::int, $3::int) n
          where m.run_no = (select run_no from read.metric_run where run_id = $1)`,
        these,
      )
  }

  const past = await list(`${sorted}&offset=10000`)
  t.is(past.headers.get('x-total-count'), '10000+')
  t.deepEqual([past.body.length, past.body.at(-1)?.run_id], [12, other.run_id])

  for (const query of [sorted, 'project=many']) {
    const seen = new Set<string>()
    let next: string | undefined = `/api/runs?${query}&limit=500&offset=9000`
    while (next !== undefined) {
      const page: Reply<Listed[]> = await forge.call('GET', next)
      for (const { run_id } of page.body) seen.add(run_id)
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
    }
    t.is(seen.size, copies + 2 - 9000, query)
  }
})
