import test from 'ava'
import { placed } from '../../command-api/jobs/decide.ts'
import { decodeFact } from '../../events/fact.ts'
import type { Job } from '../../events/job-state.ts'
import { decodeLogs, type LogsAppended } from '../../events/logs.ts'
import { until } from '../servers/until.ts'
import { admitted, after, ended, executorMarked, scheduled } from './given.ts'
import { type JobsWithExecutor, jobsWithExecutor } from './jobs-with-executor.ts'
import { told } from './told.ts'

const onTwo = { resources: { nodes: 2, gpus_per_node: 2 } }

/** The output of each rank, without repeats, as `node rank: text`. */
async function printedBy({ records }: JobsWithExecutor, run_id: string): Promise<string[]> {
  const whole = new Map<string, string>()
  for (const { key, value } of await records()) {
    const data: LogsAppended = decodeLogs(decodeFact(value).body)
    if (key !== run_id || data.origin !== 'output') continue
    const who = `${data.node} ${data.rank}`
    whole.set(who, (whole.get(who) ?? '').slice(0, data.offset) + data.bytes.toString())
  }
  return [...whole].map(([who, text]) => `${who}: ${text}`).sort()
}

test.serial(
  'a job of two nodes holds the GPUs of both, and its lines carry node and rank',
  async t => {
    const { wait, goOn } = told(t)
    const at = await jobsWithExecutor(t, {
      script: `echo I am $RANK of $WORLD_SIZE with $CUDA_VISIBLE_DEVICES
               ${wait}; echo bye`,
    })
    const first = at.reconcile()
    const { run_id } = await at.submit(onTwo)
    await until('both have printed', 60_000, async () => (await printedBy(at, run_id)).length === 2)
    const [attempt] = await at.commands.active()
    t.like(attempt, { nodes: 2, gpu_indexes: [0, 1, 2, 3], placed_on: ['local-0', 'local-1'] })
    const { rows } = await at.pool.query('select held_gpus from write.quota')
    t.is(rows[0].held_gpus, 4)
    // As after a restart of the server: no line is lost, and none appears twice.
    await first.stop()
    await goOn()
    at.reconcile()
    await until('it has ended', 60_000, async () => (await at.commands.active()).length === 0)
    t.deepEqual(await printedBy(at, run_id), [
      'local-0 0: I am 0 of 2 with 0,1\nbye\n',
      'local-1 1: I am 1 of 2 with 2,3\nbye\n',
    ])
    const events = await at.eventsOf(run_id)
    t.deepEqual(
      events.filter(event => event.type === 'job.placed').map(({ data }) => data),
      [
        {
          ...attemptOf(run_id, events[0]?.data.short_id ?? ''),
          nodes: [
            { node: 'local-0', rank: 0, gpu_indexes: [0, 1] },
            { node: 'local-1', rank: 1, gpu_indexes: [2, 3] },
          ],
        },
      ],
    )
    t.deepEqual((await at.pool.query('select * from write.gpu_slot')).rows, [])
  },
)

const attemptOf = (run_id: string, short_id: string) => ({
  run_id,
  short_id,
  project: 'of-ada',
  owner: 'ada',
  attempt: 1,
})

test.serial('a job of two nodes waits until there are GPUs for both', async t => {
  const at = await jobsWithExecutor(t, { script: 'sleep 600' })
  const one = await at.submit({ resources: { gpus_per_node: 1 } })
  const two = await at.submit(onTwo)
  at.reconcile()
  await at.untilState(one.run_id, 'starting')
  await until('it says why it waits', 60_000, async () => {
    const { rows } = await at.pool.query(
      'select queue_reason from write.job_state where run_id = $1',
      [two.run_id],
    )
    return rows[0]?.queue_reason === 'waiting_gang'
  })
  t.is(await at.stateOf(two.run_id), 'queued')
})

test.serial('the rank that fails first determines how the job failed', async t => {
  const at = await jobsWithExecutor(t, { script: '[ $RANK = 0 ] || exit 9; sleep 600' })
  at.reconcile()
  const { run_id } = await at.submit(onTwo)
  await at.untilState(run_id, 'failed')
  t.like((await at.eventsOf(run_id)).at(-1), { data: { reason: 'exit_code', exit_code: 9 } })
  t.regex(
    (await printedBy(at, run_id)).join(''),
    /local-1 1: \[forge\] rank 1 ended with exit code 9/,
  )
})

test('where an attempt runs is recorded once, and not after its end', t => {
  const runs = after(admitted(), scheduled, executorMarked())
  const nodes = [{ node: 'n1', rank: 0, gpu_indexes: [0, 1] }]
  const known = (job: Job) => placed(job, 1, nodes)
  t.like(known(runs), [{ type: 'job.placed', data: { attempt: 1, nodes } }])
  const job = after(admitted(), scheduled, executorMarked(), known)
  t.deepEqual(job.nodes, ['n1'])
  t.deepEqual(known(job), [])
  t.deepEqual(placed(runs, 2, nodes), [], 'of another attempt')
  t.deepEqual(known(after(admitted(), scheduled, executorMarked(), ended())), [])
})
