import test from 'ava'
import type { QueuePicture, WaitingJob } from '../../events/calculations/queue-picture.ts'
import { type Facts, soonerThan, waitInWords } from '../../query-api/queue/explain.ts'

const ids = { run_id: 'run_1', short_id: 'ada-s-1', owner: 'ada', project: 'ada-s' }
const hardware = { executor: 'local', series: 'H100', profile: 'h100', recipe: 'digits' }
const job = (changed: Partial<WaitingJob> = {}): WaitingJob => ({
  ...ids,
  ...hardware,
  nodes: 1,
  gpus: 4,
  priority: 0,
  admitted_at: new Date(0),
  not_before: null,
  reason: 'waiting_capacity',
  ...changed,
})
const holding = (of: string, project: string, gpus: number, left_s: number | null = null) => ({
  ...hardware,
  run_id: `run_of_${of}`,
  short_id: of,
  owner: of.split('-')[0] ?? '',
  project,
  gpus,
  left_s,
  scheduled_at: new Date(0),
  limit_at: null,
})
const placed = (of: WaitingJob, position = 1) => ({ job: of, position, ahead_gpus: 0, eta_s: null })

/** On a machine of eight GPUs; projects named `secret` are hidden. */
const facts = (picture: Partial<QueuePicture> = {}): Facts => ({
  picture: {
    waiting: [],
    holding: [],
    held: [],
    capacity: new Map([
      ['local', 8],
      ['slurm', 16],
    ]),
    profiles: [],
    roomOf: () => ({ gpus: 8, jobs: 4 }),
    ...picture,
  },
  switches: { paused: false, reason: null, changed_at: null, changed_by: null, engines: [] },
  maySee: ({ project }) => project !== 'secret',
})

test('a wait is explained with its numbers', t => {
  const busy = facts({ holding: [holding('bob-s-1', 'bob-s', 6)] })
  t.is(waitInWords(job(), busy), 'It needs 4 GPUs, and 2 of 8 are free.')
  t.is(waitInWords(job({ gpus: 1 }), busy), 'It is about to start.')
  t.is(waitInWords(job({ gpus: 9 }), busy), 'It needs 9 GPUs, and local has only 8 now.')
  const first = job({ run_id: 'run_0', gpus: 8 })
  const behind = job({ reason: 'behind_priority' })
  t.is(
    waitInWords(behind, facts({ waiting: [placed(first), placed(behind, 2)] })),
    '1 job is ahead of it, the first of which waits for 8 GPUs; no job overtakes one that waits for GPUs.',
  )
  t.is(
    waitInWords(
      job({ reason: 'waiting_gang', nodes: 2 }),
      facts({ holding: busy.picture.holding }),
    ),
    'Its 2 nodes of 2 GPUs start together: there is room for 1 of 2 now, as 2 of 8 GPUs are free.',
  )
  t.regex(
    waitInWords(job({ reason: 'quota_in_use' }), facts({ holding: [holding('ada-s-2', 's', 6)] })),
    /^ada holds 6 of 8 GPUs and 1 of 4 jobs of the quota/,
  )
})

test('a job would start sooner with fewer GPUs, elsewhere, or when another ends', t => {
  const profiles = [
    { name: 'a100', series: 'A100', executor: 'slurm', gpus: 16 },
    { name: 'small', series: 'A100', executor: 'slurm', gpus: 2 },
  ]
  const busy = facts({
    profiles,
    waiting: [placed(job())],
    holding: [holding('bob-s-1', 'bob-s', 3, 7200), holding('eve-s-1', 'secret', 3, 60)],
  })
  t.deepEqual(soonerThan(placed(job()), busy), [
    { kind: 'smaller', detail: 'With 2 GPUs instead of 4 it would start now.', gpus: 2 },
    {
      kind: 'other_profile',
      detail: 'On profile a100 (A100) it would start now.',
      profile: 'a100',
    },
    {
      kind: 'ends_next',
      detail:
        'a job that you may not see is expected to end next, in about 60 seconds, and frees 3 GPUs.',
    },
  ])
  const draining = { ...busy.switches, engines: [drained('slurm'), drained('local')] }
  t.deepEqual(
    soonerThan(placed(job({ reason: 'draining' })), { ...busy, switches: draining }).map(
      ({ kind }) => kind,
    ),
    ['undrained', 'ends_next'],
  )
})

const drained = (engine: string) => ({
  ...{ engine, draining: true, reason: null, since: null, by: null, running_jobs: 0 },
})

test('the jobs that hold a quota are named only to people who may see them', t => {
  const waits = placed(job({ reason: 'quota_in_use' }))
  const own = [holding('ada-s-2', 'ada-s', 4, 60), holding('ada-x-1', 'secret', 4, 30)]
  t.deepEqual(soonerThan(waits, facts({ holding: own })), [
    {
      kind: 'own_job_ends',
      detail: 'One of the jobs that hold the quota ends: ada-s-2, one that you may not see.',
      run_ids: ['run_of_ada-s-2'],
    },
  ])
  t.regex(soonerThan(waits, facts())[0]?.detail ?? '', /GPU-hours of the day are used up/)
})
