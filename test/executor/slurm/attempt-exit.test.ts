import test from 'ava'
import type { ExitRecord } from '../../../executor/attempts/attempt-directory.ts'
import { attemptExit, type Ended, isExplained } from '../../../executor/slurm/attempt-exit.ts'
import { toJob } from '../../../executor/slurm/dialect.ts'

const at = (second: number) => new Date(1_700_000_000_000 + second * 1000).toISOString()

const rank = (part: Partial<ExitRecord> & { second?: number } = {}): ExitRecord => {
  const { second = 10, ...rest } = part
  return {
    started_at: at(0),
    ended_at: at(second),
    exit_code: 0,
    signal: null,
    oom_killed: false,
    launch_error: null,
    ...rest,
  }
}

const job = (job_state: string, more: Record<string, unknown> = {}) =>
  toJob({ job_id: 7, job_state, exit_code: 0, start_time: 1_700_000_001, ...more })

const exitOf = (part: Partial<Ended>) =>
  attemptExit({
    ranks: [null],
    started_at: at(0),
    job: null,
    stopped: false,
    printed: '',
    now: new Date(at(99)),
    ...part,
  })

test('an attempt ends with its last rank, and succeeds if all do', t => {
  const ranks = [rank({ second: 5 }), rank({ second: 8 })]
  t.like(exitOf({ ranks }), { exit_code: 0, ended_at: at(8), started_at: at(0) })
})

test('if a rank left no record, the attempt ends with its Slurm job, which held all nodes until then', t => {
  const ended = job('NODE_FAIL', { end_time: 1_700_000_060 })
  t.like(exitOf({ ranks: [rank({ second: 5 }), null], job: ended }), { ended_at: at(60) })
  const early = job('NODE_FAIL', { end_time: 1_700_000_001 })
  t.like(exitOf({ ranks: [rank({ second: 5 }), null], job: early }), { ended_at: at(5) })
  t.like(exitOf({ ranks: [rank({ second: 5 }), null] }), { ended_at: at(5) })
  t.like(exitOf({ ranks: [null, null] }), { ended_at: at(99) })
})

test('the first rank that fails decides', t => {
  const ranks = [
    rank({ second: 9, exit_code: null, signal: 'SIGTERM' }),
    rank({ second: 6, exit_code: 3 }),
    null,
  ]
  t.like(exitOf({ ranks, job: job('FAILED') }), { exit_code: 3, signal: null, ended_at: at(9) })
})

for (const [state, words] of [
  ['NODE_FAIL', 'one of its nodes failed'],
  ['BOOT_FAIL', 'one of its nodes did not boot'],
  ['PREEMPTED', 'Slurm gave its nodes to another job'],
  ['TIMEOUT', 'the time limit of its partition was reached'],
] as const)
  test(`${state} is lost, however its ranks reacted to the signal`, t => {
    const lost = { exit_code: null, signal: null, launch_error: `Slurm job 7: ${words}` }
    t.like(exitOf({ ranks: [rank({ exit_code: 1 })], job: job(state) }), lost)
    const before = exitOf({ started_at: null, job: job(state) })
    t.like(before, { ...lost, started_at: new Date(1_700_000_001_000).toISOString() })
  })

test('Slurm has to explain an end by the signals with which it withdraws nodes', t => {
  const killed = (signal: string) => rank({ second: 5, exit_code: null, signal })
  const explained = (exits: Ended['ranks'], { interrupted = false, stopped = false } = {}) =>
    isExplained({ exits, interrupted }, stopped)
  t.false(explained([killed('SIGTERM'), rank()]))
  t.false(explained([rank(), killed('SIGKILL')]))
  t.false(explained([rank()], { interrupted: true }))
  t.true(explained([killed('SIGKILL')], { stopped: true }))
  t.true(explained([killed('SIGSEGV')]))
  // The other rank was stopped because this one had failed.
  t.true(explained([rank({ second: 4, exit_code: 3 }), killed('SIGTERM')]))
})

test('a stop of ours is a stop, even if Slurm carried it out', t => {
  t.like(exitOf({ job: job('CANCELLED'), stopped: true }), { signal: 'SIGKILL' })
  t.like(exitOf({ started_at: null, stopped: true }), {
    started_at: null,
    signal: null,
    launch_error: 'stopped before it was started',
  })
})

test('an attempt that Slurm ended for its memory is reported as such', t => {
  t.like(exitOf({ job: job('OUT_OF_MEMORY') }), { signal: 'SIGKILL', oom_killed: true })
})

test('a job that ends before its program starts reports how, with its output', t => {
  const failed = job('FAILED', { exit_code: 127 << 8 })
  t.is(
    exitOf({ started_at: null, job: failed, printed: 'node: not found' }).launch_error,
    'Slurm job 7 ended (FAILED, exit code 127) before its program started; its last output: node: not found',
  )
  t.regex(exitOf({ job: null }).launch_error ?? '', /no longer knows its job/)
})
