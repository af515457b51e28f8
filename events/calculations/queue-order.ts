/** The properties of a waiting job that determine its place. */
export type QueuedJob = {
  run_id: string
  owner: string
  gpus: number
  priority: number
  admitted_at: Date
}

/** The properties of an owner that determine their jobs' places. */
export type Standing = {
  /** The `priority` of the owner's quota. */
  class: number
  /** GPUs of their attempts that may still run. */
  held_gpus: number
  /** Within the last `shareHours`. */
  used_gpu_hours: number
}

export const noStanding: Standing = { class: 0, held_gpus: 0, used_gpu_hours: 0 }

/** How long use counts against its user. */
export const shareHours = 24

const hourMs = 3_600_000

export type Placed<J> = { job: J; class: number; countsFromMs: number }

/**
 * The order in which waiting jobs start: the class of the owner's quota, the job's priority, then who counts as
 * submitted first. A job counts as submitted one hour later for each GPU that its owner holds, for each GPU-hour that they
 * used within the last day, and for each GPU of their own jobs ahead of it (docs/adr/0013-taking-turns-in-the-queue.md).
 */
export function inQueueOrder<J extends QueuedJob>(
  jobs: readonly J[],
  standingOf: (owner: string) => Standing,
): Placed<J>[] {
  const placed: Placed<J>[] = []
  for (const [owner, own] of Map.groupBy(jobs, job => job.owner)) {
    const { class: its, held_gpus, used_gpu_hours } = standingOf(owner)
    let gpuHours = held_gpus + used_gpu_hours
    for (const job of own.sort(inOwnOrder)) {
      const countsFromMs = job.admitted_at.getTime() + gpuHours * hourMs
      placed.push({ job, class: its, countsFromMs })
      gpuHours += job.gpus
    }
  }
  return placed.sort(inTurn)
}

/** A sorted queue with running sums, so that a newcomer's place is found without walking a long queue. */
export type SummedQueue<J> = {
  queue: readonly Placed<J>[]
  /** GPUs of the jobs ahead of each place; one more than there are jobs. */
  gpusAhead: readonly number[]
  /** By owner and priority. */
  gpusOf: ReadonlyMap<string, ReadonlyMap<number, number>>
}

export function summed<J extends QueuedJob>(queue: readonly Placed<J>[]): SummedQueue<J> {
  const gpusAhead = [0]
  const gpusOf = new Map<string, Map<number, number>>()
  let gpus = 0
  for (const { job } of queue) {
    gpus += job.gpus
    gpusAhead.push(gpus)
    const own = gpusOf.get(job.owner) ?? new Map<number, number>()
    gpusOf.set(job.owner, own.set(job.priority, (own.get(job.priority) ?? 0) + job.gpus))
  }
  return { queue, gpusAhead, gpusOf }
}

/**
 * `inQueue`: how many jobs of the queue are ahead of it; `index` and `gpus`: the number of jobs including the newcomers, and
 * their GPUs.
 */
export type Joined<J> = { placed: Placed<J>; inQueue: number; index: number; gpus: number }

/** A job that joins a queue after these newcomers, as the last of its owner's with its priority. */
export function joining<J extends QueuedJob>(
  { queue, gpusAhead, gpusOf }: SummedQueue<J>,
  newcomers: readonly Placed<J>[],
  job: J,
  { class: its, held_gpus, used_gpu_hours }: Standing,
): Joined<J> {
  let gpuHours = held_gpus + used_gpu_hours
  for (const [priority, gpus] of gpusOf.get(job.owner) ?? [])
    if (priority >= job.priority) gpuHours += gpus
  for (const { job: other } of newcomers)
    if (other.owner === job.owner && other.priority >= job.priority) gpuHours += other.gpus
  const countsFromMs = job.admitted_at.getTime() + gpuHours * hourMs
  const placed = { job, class: its, countsFromMs }
  const inQueue = placeIn(queue, placed)
  const ahead = newcomers.filter(other => inTurn(placed, other) >= 0)
  return {
    ...{ placed, inQueue },
    index: inQueue + ahead.length,
    gpus: ahead.reduce((sum, other) => sum + other.job.gpus, gpusAhead[inQueue] ?? 0),
  }
}

/** Binary search: the number of jobs in a sorted queue that are not behind this one. */
function placeIn<J extends QueuedJob>(queue: readonly Placed<J>[], placed: Placed<J>): number {
  let [from, to] = [0, queue.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const other = queue[middle]
    if (other && inTurn(placed, other) < 0) to = middle
    else from = middle + 1
  }
  return from
}

const inOwnOrder = (a: QueuedJob, b: QueuedJob): number =>
  b.priority - a.priority || byAdmission(a, b)

export const inTurn = (a: Placed<QueuedJob>, b: Placed<QueuedJob>): number =>
  b.class - a.class ||
  b.job.priority - a.job.priority ||
  a.countsFromMs - b.countsFromMs ||
  byAdmission(a.job, b.job)

const byAdmission = (a: QueuedJob, b: QueuedJob): number =>
  a.admitted_at.getTime() - b.admitted_at.getTime() ||
  (a.run_id < b.run_id ? -1 : Number(a.run_id > b.run_id))
