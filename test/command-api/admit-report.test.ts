import test from 'ava'
import { createReports } from '../../command-api/rules/admit-report.ts'
import { Refusal } from '../../platform/refusal.ts'
import { database } from '../servers/postgres.ts'

test("a report may name its run by the short id, and gets the same 403 for others' and for unknown ones", async t => {
  const { pool } = await database(t)
  await pool.query(
    `insert into write.run_state (run_id, short_id, owner, project, source)
     values ('run_a', 'demo-1', 'ada', 'demo', 'external'), ('run_b', 'demo-2', 'bob', 'demo', 'external')`,
  )
  const reports = createReports(pool, () => new Date())
  const caller = { kind: 'run', runId: 'run_a', tokenId: 't' } as const
  const admit = async (run_id: string) => {
    const body = { run_id }
    await reports.admit({ caller, body, ctx: { set: () => {} } })
    return body.run_id
  }
  t.is(await admit('run_a'), 'run_a')
  t.is(await admit('demo-1'), 'run_a')
  const texts: string[] = []
  for (const other of ['demo-2', 'run_b', 'demo-9', 'null', 'Demo-1']) {
    const refusal = await t.throwsAsync(admit(other), { instanceOf: Refusal, code: 'forbidden' })
    texts.push(refusal.message)
  }
  t.is(new Set(texts).size, 1)
})
