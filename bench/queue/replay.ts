import {
  corrected,
  correctionOf,
  countedOutcomes,
  type Outcome,
  type Outlook,
  oneFuture,
  type Range,
  rangesOf,
  seededRandom,
} from '../../events/calculations/queue-forecast.ts'
import {
  inQueueOrder,
  type QueuedJob,
  type Standing,
} from '../../events/calculations/queue-order.ts'

/** A synthetic job; nobody knows `lasts` beforehand. Times are in seconds. */
type Job = QueuedJob & { kind: number; lasts: number; submitted: number }
type Ended = { job: Job; started: number; ended: number }
type Promised = { range: Range; wait: number }

export type Replay = {
  jobs: number
  /** Jobs that were given a range, and how many of them did not start at once. */
  promised: number
  waited: number
  /** How many of the waiting jobs started no later than the p90, within the range, and no later than the p50. */
  byP90: number
  inRange: number
  byP50: number
}

const gpus = 16
const people = ['ada', 'bob', 'cy', 'dee', 'eve']
const room = { gpus: 8, jobs: 6 }
const futures = 40
/** Median seconds, spread (sigma of the logarithm) and GPUs of each kind of job. */
const kinds = [
  { median: 600, spread: 0.3, gpus: 1 },
  { median: 1800, spread: 0.5, gpus: 2 },
  { median: 5400, spread: 0.7, gpus: 4 },
]

/** Submits synthetic jobs to the real order and the real forecast, and compares each range with the wait that followed. */
export function replay(count: number, load: number): Replay {
  const jobs = synthetic(count, load, seededRandom(42))
  const promises = new Map<Job, Range | null>()
  const started = new Map<Job, number>()
  const raw = new Map<Job, Range | null>()
  const outcomes: Outcome[] = []
  let waiting: Job[] = []
  let running: Ended[] = []
  const done: Ended[] = []
  const past = kinds.map((): number[] => [])
  const startWhatFits = (now: number) => {
    let left = gpus - sum(running.map(other => other.job.gpus))
    for (const { job } of inQueueOrder(waiting, standings(running, done, now))) {
      if (!hasRoom(job, running)) continue
      left -= job.gpus
      if (left < 0) break
      running.push({ job, started: now, ended: now + job.lasts })
      started.set(job, now)
      const range = raw.get(job)
      if (range) outcomes.push({ range, wait: now - job.submitted })
    }
    waiting = waiting.filter(job => !started.has(job))
  }
  const passTo = (time: number) => {
    for (;;) {
      const next = running.toSorted((a, b) => a.ended - b.ended)[0]
      if (!next || next.ended > time) return
      running = running.filter(other => other !== next)
      done.push(next)
      past[next.job.kind] = [...(past[next.job.kind] ?? []), next.job.lasts].slice(-50)
      startWhatFits(next.ended)
    }
  }
  for (const job of jobs) {
    passTo(job.submitted)
    waiting.push(job)
    startWhatFits(job.submitted)
    const range = forecast(job, { waiting, running, done, past, now: job.submitted })
    raw.set(job, range)
    promises.set(job, range && corrected(range, correctionOf(outcomes.slice(-countedOutcomes))))
  }
  passTo(Number.POSITIVE_INFINITY)
  return judged(jobs, promises, started)
}

function hasRoom(job: Job, running: readonly Ended[]): boolean {
  const own = running.filter(other => other.job.owner === job.owner)
  return own.length < room.jobs && sum(own.map(other => other.job.gpus)) + job.gpus <= room.gpus
}

type Now = { waiting: Job[]; running: Ended[]; done: Ended[]; past: number[][]; now: number }

/** Also for a job that has just started, whose estimate is an immediate start. */
function forecast(job: Job, { waiting, running, done, past, now }: Now): Range | null {
  if (!waiting.includes(job)) return { p50: 0, p90: 0 }
  const ordered = inQueueOrder(waiting, standings(running, done, now))
  const ascending = past.map(seconds => seconds.toSorted((a, b) => a - b))
  const common = { executor: 'local' }
  const outlook: Outlook = {
    waiting: ordered.map(({ job: { owner, gpus: wanted, kind } }) => ({
      ...common,
      owner,
      gpus: wanted,
      past: ascending[kind] ?? [],
      not_before_s: 0,
    })),
    running: running.map(({ job: { owner, gpus: held, kind }, started }) => ({
      ...common,
      owner,
      gpus: held,
      past: ascending[kind] ?? [],
      held_s: now - started,
      limit_s: null,
    })),
    capacity: new Map([['local', gpus]]),
    rooms: new Map(people.map(owner => [owner, room])),
  }
  const found = Array.from({ length: futures }, (_, seed) => oneFuture(outlook, seededRandom(seed)))
  return rangesOf(outlook, found)[ordered.findIndex(other => other.job === job)] ?? null
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

const standings =
  (running: readonly Ended[], done: readonly Ended[], now: number) =>
  (owner: string): Standing => {
    const since = now - 86_400
    const used = [...done.slice(-500), ...running].filter(
      other => other.job.owner === owner && other.ended > since,
    )
    return {
      class: 0,
      held_gpus: sum(running.flatMap(({ job }) => (job.owner === owner ? job.gpus : []))),
      used_gpu_hours: sum(
        used.map(
          ({ job, started, ended }) =>
            (job.gpus * (Math.min(ended, now) - Math.max(started, since))) / 3600,
        ),
      ),
    }
  }

/** Arrivals without memory, so many that the GPUs are used by `load` on average. */
function synthetic(count: number, load: number, random: () => number): Job[] {
  const work = sum(kinds.map(kind => kind.gpus * kind.median * Math.exp(kind.spread ** 2 / 2)))
  const every = work / kinds.length / gpus / load
  let at = 0
  return Array.from({ length: count }, (_, index) => {
    at -= every * Math.log(1 - random())
    const kind = Math.floor(random() * kinds.length)
    const { median = 0, spread = 0, gpus: wanted = 1 } = kinds[kind] ?? {}
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    return {
      run_id: `run_${String(index).padStart(6, '0')}`,
      owner: people[Math.floor(random() ** 2 * people.length)] ?? 'ada',
      gpus: wanted,
      priority: 0,
      admitted_at: new Date(at * 1000),
      kind,
      lasts: median * Math.exp(spread * normal),
      submitted: at,
    }
  })
}

function judged(
  jobs: readonly Job[],
  promises: ReadonlyMap<Job, Range | null>,
  started: ReadonlyMap<Job, number>,
): Replay {
  const kept = jobs.flatMap((job): Promised[] => {
    const range = promises.get(job)
    const wait = (started.get(job) ?? Number.POSITIVE_INFINITY) - job.submitted
    return range ? [{ range, wait }] : []
  })
  const late = kept.filter(({ wait }) => wait > 0)
  const share = (holds: (each: Promised) => boolean) => late.filter(holds).length / late.length
  return {
    jobs: jobs.length,
    promised: kept.length,
    waited: late.length,
    byP90: share(({ range, wait }) => wait <= range.p90),
    inRange: share(({ range, wait }) => wait >= range.p50 && wait <= range.p90),
    byP50: share(({ range, wait }) => wait <= range.p50),
  }
}
