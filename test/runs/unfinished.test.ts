import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

const limit = 10_000

/** Unfinished runs of the administrator, in portions: each row updates the same counter. */
async function fillUpTo({ pool }: Forge, runs: number): Promise<void> {
  for (let from = 0; from < runs; from += 500)
    await pool.query(
      `insert into write.run_state (run_id, owner, project, source, last_report_at)
       select 'run_filler_' || n, 'admin', 'filled', 'external', now()
         from generate_series($1::integer, $2::integer) n`,
      [from + 1, Math.min(from + 500, runs)],
    )
}

const create = (forge: Forge, token = forge.token) =>
  forge.call<{ run_id: string; token: string }>('POST', '/api/runs', {
    token,
    body: { project: token === forge.token ? 'demo' : 'hers' },
  })

const counted = async ({ pool }: Forge, owner = 'admin') => {
  const { rows } = await pool.query<{ runs: number; rows: number }>(
    `select runs, (select count(*)::integer from write.run_state s
                    where s.owner = u.owner and source = 'external' and ended_at is null) as rows
       from write.unfinished_runs u where owner = $1`,
    [owner],
  )
  return rows[0]
}

test('a person has at most 10,000 unfinished runs, however many are created at once, until one ends', async t => {
  const forge = await startForge(t)
  const hers = await signedIn(forge, 'alice')
  t.is((await create(forge)).status, 200)
  await fillUpTo(forge, limit - 4)
  const replies = await Promise.all(Array.from({ length: 12 }, () => create(forge)))
  const made = replies.filter(({ status }) => status === 200)
  t.is(made.length, 3)
  t.deepEqual(await counted(forge), { runs: limit, rows: limit })
  const refused = replies.filter(({ status }) => status !== 200)
  for (const { status, body } of refused) {
    t.is(status, 409)
    t.like(body, { code: 'run.too_many_unfinished', data: { limit } })
    t.regex(
      String((body as { detail?: unknown }).detail),
      /^admin already has 10000 unfinished runs, the most at one time; end some first$/,
    )
  }
  const mlflow = () =>
    forge.call('POST', '/api/2.0/mlflow/runs/create', { body: { experiment_id: 'demo' } })
  const asMlflow = await mlflow()
  t.is(asMlflow.status, 409)
  t.like(asMlflow.body, { error_code: 'INVALID_STATE', code: 'run.too_many_unfinished' })
  t.is((await create(forge, hers)).status, 200, 'another person is not affected')

  const [run] = made
  const end = await forge.call('POST', '/api/ingest/lifecycle', {
    token: String(run?.body.token),
    body: { run_id: run?.body.run_id, event: 'succeeded' },
  })
  t.is(end.status, 200)
  t.is((await mlflow()).status, 200)
  t.is((await create(forge)).status, 409)
  const stopped = await forge.call('POST', `/api/runs/${made[1]?.body.run_id}/stop`, {
    body: { force: true },
  })
  t.is(stopped.status, 200)
  t.is((await create(forge)).status, 200)
  t.deepEqual(await counted(forge), { runs: limit, rows: limit })
})

test('every way in which a run ends or returns is counted, and jobs are not', async t => {
  const forge = await startForge(t)
  const { body } = await create(forge)
  const change = (sql: string) => forge.pool.query(sql, [body.run_id])
  t.deepEqual(await counted(forge), { runs: 1, rows: 1 })
  await change('update write.run_state set ended_at = now() where run_id = $1')
  await change(`update write.run_state set ended_at = now() + interval '1 s' where run_id = $1`)
  t.deepEqual(await counted(forge), { runs: 0, rows: 0 })
  await change('update write.run_state set ended_at = null where run_id = $1')
  t.deepEqual(await counted(forge), { runs: 1, rows: 1 })
  await change(
    `insert into write.run_state (run_id, owner, project, source) select 'job_' || $1, 'admin', 'demo', 'job'`,
  )
  t.deepEqual(await counted(forge), { runs: 1, rows: 1 })
  await change('delete from write.run_state where run_id = $1')
  t.deepEqual(await counted(forge), { runs: 0, rows: 0 })
})
