import test from 'ava'
import { sealedFor } from '../../command-api/rules/secret-values.ts'
import { type JobsWithExecutor, jobsWithExecutor } from '../jobs/jobs-with-executor.ts'
import { until } from '../servers/until.ts'

// One test at a time, because each starts processes.
const setIn = ({ pool, deps }: JobsWithExecutor, owner: string, name: string, value: string) =>
  pool.query(
    `insert into write.secret (owner, name, sealed) values ($1, $2, $3)
      on conflict (owner, name) do update set sealed = excluded.sealed`,
    [owner, name, deps.sealing.seal(value, sealedFor({ owner, name }))],
  )

const script = 'echo "$HUB_TOKEN $NCCL_DEBUG"'
const secrets = ['HUB_TOKEN']

test.serial('a job gets the value that its owner’s secret has when it starts', async t => {
  const at = await jobsWithExecutor(t, { script })
  await setIn(at, 'ada', 'HUB_TOKEN', 'earlier')
  await setIn(at, 'eve', 'HUB_TOKEN', 'of somebody else')
  const { run_id } = await at.submit({ secrets, env: { NCCL_DEBUG: 'WARN' } })
  await setIn(at, 'ada', 'HUB_TOKEN', 'current')
  at.reconcile()
  t.is(
    await until('it has printed', 60_000, async () => (await at.printed(run_id)) || null),
    'current WARN\n',
  )
  t.false(JSON.stringify(await at.eventsOf(run_id)).includes('current'))
})

test.serial('only the submitter’s own secrets exist for a job', async t => {
  const at = await jobsWithExecutor(t)
  await setIn(at, 'eve', 'HUB_TOKEN', 'of somebody else')
  await t.throwsAsync(at.submit({ secrets }), { message: /You have no secret named HUB_TOKEN/ })
  await t.throwsAsync(at.submit({ secrets }, { role: 'admin' }), { message: /You have no secret/ })
  await setIn(at, 'ada', 'HUB_TOKEN', 'own')
  await t.throwsAsync(at.submit({ secrets, env: { HUB_TOKEN: 'x' } }), {
    message: /HUB_TOKEN is in both spec.env and spec.secrets/,
  })
  await t.notThrowsAsync(at.submit({ secrets }))
})

test.serial('a job whose secret was removed fails at once, and says which', async t => {
  const at = await jobsWithExecutor(t)
  await setIn(at, 'ada', 'HUB_TOKEN', 'own')
  const { run_id } = await at.submit({ secrets })
  await at.pool.query('delete from write.secret')
  at.reconcile()
  await at.untilState(run_id, 'failed')
  const events = JSON.stringify(await at.eventsOf(run_id))
  t.regex(events, /ada has removed the secret HUB_TOKEN since this job was submitted/)
})
