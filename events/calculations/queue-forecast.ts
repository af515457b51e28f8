/** A job that waits, in queue order. */
export type ToStart = {
  owner: string
  executor: string
  gpus: number
  /** Seconds for which attempts like this one held their GPUs, ascending. */
  past: readonly number[]
  /** Seconds until its earliest possible start; Infinity: unknown. */
  not_before_s: number
}

/** An attempt that holds GPUs. */
export type ToEnd = {
  owner: string
  executor: string
  gpus: number
  past: readonly number[]
  /** How many seconds it has held them. */
  held_s: number
  /** Seconds until a limit of its spec ends it. */
  limit_s: number | null
}

/** The limits of one owner's concurrent use. */
export type Room = { gpus: number; jobs: number }

export type Outlook = {
  waiting: readonly ToStart[]
  running: readonly ToEnd[]
  /** Total GPUs of each executor. */
  capacity: ReadonlyMap<string, number>
  /** Owners without an entry have no limit. */
  rooms: ReadonlyMap<string, Room>
}

/** A job's duration is estimated from at least this many similar past jobs. */
export const leastPast = 5

export type Range = { p50: number; p90: number }

/** The seconds until each waiting job starts in one possible future; Infinity: not in this one. */
export function oneFuture(outlook: Outlook, random: () => number): number[] {
  const { waiting, running } = outlook
  const machines = createMachines(outlook)
  for (const attempt of running) machines.take(attempt, leftOf(attempt, random))
  const starts = waiting.map(() => Number.POSITIVE_INFINITY)
  const wakes = [...new Set(waiting.map(({ not_before_s }) => not_before_s))].sort((a, b) => a - b)
  let left = waiting.map((job, index): Candidate => ({ ...job, index }))
  for (let at = 0; left.length > 0 && at !== Number.POSITIVE_INFINITY; ) {
    const started = new Set<Candidate>()
    for (const job of startable(left, machines, at)) {
      started.add(job)
      starts[job.index] = at
      machines.take(job, at + drawn(job.past, random))
    }
    if (started.size > 0) left = left.filter(job => !started.has(job))
    const now = at
    at = Math.min(machines.nextEnd(), wakes.find(wake => wake > now) ?? Number.POSITIVE_INFINITY)
    machines.passTo(at)
  }
  return starts
}

type Candidate = ToStart & { index: number }

/**
 * The jobs that start now, in queue order. No job that needs GPUs overtakes one that waits for some, as in
 * `executor/queue.ts`.
 */
function* startable(
  left: readonly Candidate[],
  machines: Machines,
  now: number,
): Generator<Candidate> {
  const full = new Set<string>()
  for (const job of left) {
    if (
      (full.has(job.executor) && job.gpus > 0) ||
      job.not_before_s > now ||
      !machines.mayHold(job)
    )
      continue
    if (machines.hasFree(job)) yield job
    else full.add(job.executor)
    if (full.size === machines.executors && !machines.mayStartBare) return
  }
}

type Machines = ReturnType<typeof createMachines>

/** Free GPUs and quota over time. */
function createMachines({ capacity, rooms, waiting }: Outlook) {
  const free = new Map(capacity)
  const held = new Map<string, Room>()
  const ends = createEnds()
  const heldBy = (owner: string) => held.get(owner) ?? { gpus: 0, jobs: 0 }
  const change = ({ executor, owner, gpus }: Holder, sign: 1 | -1) => {
    free.set(executor, (free.get(executor) ?? 0) - sign * gpus)
    const has = heldBy(owner)
    held.set(owner, { gpus: has.gpus + sign * gpus, jobs: has.jobs + sign })
  }
  return {
    executors: capacity.size,
    mayStartBare: waiting.some(({ gpus }) => gpus === 0),
    take(holder: Holder, until: number): void {
      change(holder, 1)
      ends.add({ ...holder, at: until })
    },
    /** Whether its owner's quota has room, and its executor has that many GPUs in total. */
    mayHold({ executor, owner, gpus }: Holder): boolean {
      const has = heldBy(owner)
      const room = rooms.get(owner)
      if (room && (has.gpus + gpus > room.gpus || has.jobs >= room.jobs)) return false
      return gpus <= (capacity.get(executor) ?? 0)
    },
    hasFree: ({ executor, gpus }: Holder): boolean =>
      gpus === 0 || gpus <= (free.get(executor) ?? 0),
    nextEnd: ends.first,
    passTo(at: number): void {
      for (const holder of ends.until(at)) change(holder, -1)
    },
  }
}

type Holder = { executor: string; owner: string; gpus: number }

/** The remaining time of an attempt: sampled from earlier attempts that took longer than it has so far. */
function leftOf({ past, held_s, limit_s }: ToEnd, random: () => number): number {
  const limit = Math.max(0, limit_s ?? Number.POSITIVE_INFINITY)
  const first = past.findIndex(seconds => seconds > held_s)
  // Longer than all earlier attempts: unknown; as a rule of thumb, as long again.
  const left = first === -1 ? held_s * 2 * random() : drawn(past.slice(first), random) - held_s
  return Math.min(limit, left)
}

const drawn = (past: readonly number[], random: () => number): number =>
  past[Math.floor(random() * past.length)] ?? 0

/** Ends ordered by time, earliest first. */
function createEnds() {
  const heap: (Holder & { at: number })[] = []
  const atOf = (index: number) => heap[index]?.at ?? Number.POSITIVE_INFINITY
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]]
    if (one && other) [heap[a], heap[b]] = [other, one]
  }
  const up = (index: number): void => {
    const parent = (index - 1) >> 1
    if (index === 0 || atOf(parent) <= atOf(index)) return
    swap(parent, index)
    up(parent)
  }
  const down = (index: number): void => {
    const [left, right] = [2 * index + 1, 2 * index + 2]
    const least = atOf(right) < atOf(left) ? right : left
    if (atOf(least) >= atOf(index)) return
    swap(least, index)
    down(least)
  }
  const shift = () => {
    swap(0, heap.length - 1)
    const first = heap.pop()
    down(0)
    return first
  }
  return {
    add(end: Holder & { at: number }) {
      heap.push(end)
      up(heap.length - 1)
    },
    first: () => atOf(0),
    until(at: number): Holder[] {
      const ended: Holder[] = []
      while (heap.length > 0 && atOf(0) <= at)
        ended.push(...[shift()].filter(end => end !== undefined))
      return ended
    },
  }
}

/** Seconds between a slot becoming free and the start that uses it, which a forecast cannot predict. */
const lookS = 2

/**
 * The range of each wait in these futures. Null: the job waits for others with fewer than `leastPast` similar ended
 * ones, or did not start in one of ten futures.
 */
export function rangesOf(
  { waiting, running }: Outlook,
  futures: readonly (readonly number[])[],
): (Range | null)[] {
  const unknown = new Set(
    running.flatMap(({ past, executor, gpus }) =>
      gpus > 0 && past.length < leastPast ? executor : [],
    ),
  )
  return waiting.map(({ executor, past, gpus }, index) => {
    const starts = futures.map(future => future[index] ?? Number.POSITIVE_INFINITY)
    const isKnown = !unknown.has(executor)
    if (gpus > 0 && past.length < leastPast) unknown.add(executor)
    const at = starts.sort((a, b) => a - b)
    const isAtOnce = futures.length > 0 && at.at(-1) === 0
    if (!isKnown && !isAtOnce) return null
    return rangeOf(at)
  })
}

function rangeOf(ascending: readonly number[]): Range | null {
  const at = (share: number) =>
    ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ??
    Number.POSITIVE_INFINITY
  const [p50, p90] = [at(0.5), at(0.9)]
  return p90 === Number.POSITIVE_INFINITY
    ? null
    : { p50: Math.floor(p50), p90: Math.ceil(p90) + lookS }
}

/** A forecast that was made, uncorrected, and the wait that followed, in seconds. */
export type Outcome = { range: Range; wait: number }

/** How far recent waits exceeded their forecasts, at the median and at the 90th percentile. */
export type Correction = { p50: number; p90: number }

export const noCorrection: Correction = { p50: 1, p90: 1 }
/** Outcomes that count: enough for a 90th percentile, few enough to follow a change. */
export const countedOutcomes = 200
const leastOutcomes = 20

/**
 * A correction of forecasts, learnt from their outcomes: a simulated future does not include jobs yet to be
 * submitted, some of which go ahead. Forecasts of an immediate start are left out, because they carry no information
 * about that.
 */
export function correctionOf(outcomes: readonly Outcome[]): Correction {
  const waited = outcomes.filter(({ range }) => range.p90 > lookS)
  if (waited.length < leastOutcomes) return noCorrection
  const excess = (share: number, foretold: (range: Range) => number) => {
    const ratios = waited.map(({ range, wait }) => wait / Math.max(1, foretold(range)))
    return ratios.sort((a, b) => a - b)[Math.floor(share * ratios.length)] ?? 1
  }
  return { p50: excess(0.5, range => range.p50), p90: excess(0.9, range => range.p90) }
}

export function corrected({ p50, p90 }: Range, by: Correction): Range {
  if (p90 <= lookS) return { p50, p90 }
  const middle = Math.floor(p50 * by.p50)
  return { p50: middle, p90: Math.max(middle, Math.ceil(p90 * by.p90)) }
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
