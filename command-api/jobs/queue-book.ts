import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pool } from 'pg'
import {
  corrected,
  noCorrection,
  type Range,
  rangesOf,
} from '../../events/calculations/queue-forecast.ts'
import {
  inTurn,
  joining,
  noStanding,
  type Placed,
  type SummedQueue,
  summed,
} from '../../events/calculations/queue-order.ts'
import type {
  Newcomer,
  NewPlace,
  PlacedJob,
  QueueBook,
  QueuePicture,
} from '../../events/calculations/queue-picture.ts'
import type { Clock } from '../../platform/time.ts'
import { readSwitches } from '../rules/queue-switches.ts'
import { createForecasts, foreseenJobs, futuresOf, isSmall, type Waits } from './forecast.ts'
import { expectedLeft, type Ground, idleGpus, outlookOf, readGround, roomOf } from './outlook.ts'
import { type Queue, type QueueRow, readQueue, readStandings } from './waiting-jobs.ts'

/**
 * One reading of the queue, good for `goodForMs`; `waits` are uncorrected. `foretold` keeps the estimates made for newcomers, because
 * many submits and preflights of one kind arrive while a page is used.
 */
type Page = {
  at: Date
  goodForMs: number
  queue: Queue
  sums: SummedQueue<QueueRow>
  idle: ReadonlyMap<string, number>
  ground: Ground
  waits: Waits
  foretold: Map<string, Range | null>
}

export type BookDeps = {
  pool: Pool
  now: Clock
  /** A forecast could not be computed. */
  failed: (error: unknown) => void
}

/** A queue of at most this many jobs is short: it is read again after each submit made here. */
const shortUpTo = 200
/**
 * How long a page is used, in milliseconds. The page of a long queue is used longer if reading it is slow, so that reading
 * stays a small part of the work. Half way through, the next page is read in the background.
 */
const pageMs = { least: 1000, most: 3000, timesReading: 100 }

const goodFor = ({ jobs }: Queue, tookMs: number): number =>
  jobs.length <= shortUpTo
    ? pageMs.least
    : Math.min(pageMs.most, Math.max(pageMs.least, tookMs * pageMs.timesReading))

export function createQueueBook({ pool, now, failed }: BookDeps): QueueBook {
  const forecasts = createForecasts(failed)
  let page: Page | null = null
  let reading: Promise<Page> | null = null
  const read = async (): Promise<Page> => {
    const at = now()
    const [queue, found, closed] = await Promise.all([
      readQueue(pool, at),
      readGround(pool),
      closedEngines(pool),
    ])
    const ground: Ground = { ...found, closed }
    // In a long queue each part takes milliseconds; requests are served between the parts.
    await nextTurn()
    const sums = summed(queue.jobs)
    const waiting = queue.jobs.map(({ job }) => job)
    const open = ground.profiles.filter(({ executor }) => !closed.has(executor))
    const idle = idleGpus(open, [...ground.holding, ...waiting])
    await nextTurn()
    const first = queue.jobs.slice(0, foreseenJobs)
    const ids = first.map(({ job }) => job.run_id)
    const waits = forecasts.of(outlookOf(first, ground, at), ids, at.getTime())
    const goodForMs = goodFor(queue, now().getTime() - at.getTime())
    return { at, goodForMs, queue, sums, idle, ground, waits, foretold: new Map() }
  }
  const readNow = async (): Promise<Page> => {
    const mine = read()
    reading = mine
    try {
      const found = await mine
      if (reading === mine) page = found
      return found
    } finally {
      if (reading === mine) reading = null
    }
  }
  const current = (): Page | Promise<Page> => {
    if (!page) return reading ?? readNow()
    const age = now().getTime() - page.at.getTime()
    if (age < 0 || age >= page.goodForMs) return reading ?? readNow()
    // A caller that finds the page too old reads it again, and gets the fault.
    if (age >= page.goodForMs / 2 && !reading) readNow().catch(() => {})
    return page
  }
  const readAnew = () => {
    page = null
    reading = null
  }
  return {
    placesOf: async newcomers => placesIn(pool, await current(), newcomers, now()),
    async picture(waiting = []) {
      if (!isWaitingIn(await current(), waiting)) readAnew()
      return pictureOf(await current(), now())
    },
    idleGpus: async () => (await current()).idle,
    switches: () => readSwitches(pool),
    async placeOfJob(run_id) {
      const { waiting } = pictureOf(await current(), now())
      const placed = waiting.find(({ job }) => job.run_id === run_id)
      if (!placed) return null
      const { job, ...place } = placed
      return { ...place, reason: job.reason }
    },
    changed: readAnew,
    submitted() {
      if (!page || page.queue.jobs.length <= shortUpTo) readAnew()
    },
  }
}

/** Engines that start nothing now: the drained ones, or all. */
async function closedEngines(pool: Pool): Promise<{ has(executor: string): boolean }> {
  const { paused, engines } = await readSwitches(pool)
  if (paused) return { has: () => true }
  return new Set(engines.filter(({ draining }) => draining).map(({ engine }) => engine))
}

function isWaitingIn({ queue, ground }: Page, run_ids: readonly string[]): boolean {
  if (run_ids.length === 0) return true
  const there = new Set(
    [...queue.jobs.map(({ job }) => job), ...ground.held].map(one => one.run_id),
  )
  return run_ids.every(run_id => there.has(run_id))
}

async function placesIn(
  pool: Pool,
  { at, queue, sums, ground, waits, foretold: kept }: Page,
  newcomers: readonly Newcomer[],
  now: Date,
): Promise<NewPlace[]> {
  const before: Placed<QueueRow>[] = []
  const places: NewPlace[] = []
  for (const newcomer of newcomers) {
    const standing = await standingOf(pool, queue, newcomer.owner, now)
    const { placed, inQueue, index, gpus } = joining(sums, before, asJob(newcomer, now), standing)
    before.push(placed)
    const foretold = etaOf(placed) ?? waits.get(behind(inQueue)) ?? null
    const view = {
      position: index + 1,
      ahead_gpus: gpus,
      eta_s: correctedOn(newcomer, foretold, ground),
      reason: 'waiting_capacity' as const,
    }
    places.push({ view, foretold })
  }
  return places

  /** For a short queue; in a long one, the estimate is that of the job behind, whose place it takes. */
  function etaOf(placed: Placed<QueueRow>): Range | null {
    if (!isSmall(queue.jobs.length + before.length + ground.holding.length)) return null
    const key = JSON.stringify(newcomers.slice(0, before.length))
    const known = kept.get(key)
    if (known !== undefined) return known
    const jobs = [...queue.jobs, ...before].sort(inTurn)
    const outlook = outlookOf(jobs, ground, at)
    const range = rangesOf(outlook, futuresOf(outlook))[jobs.indexOf(placed)] ?? null
    kept.set(key, range)
    return range
  }

  function behind(index: number): string {
    return queue.jobs[Math.min(index, queue.jobs.length - 1)]?.job.run_id ?? ''
  }
}

/** Corrected by how far recent forecasts for its executor were too low. */
const correctedOn = (
  { executor }: Pick<QueueRow, 'executor'>,
  range: Range | null | undefined,
  { corrections }: Ground,
): Range | null => (range ? corrected(range, corrections.get(executor) ?? noCorrection) : null)

async function standingOf(pool: Pool, { standings }: Queue, owner: string, now: Date) {
  const known = standings.get(owner) ?? (await readStandings(pool, now, [owner])).get(owner)
  const standing = known ?? noStanding
  standings.set(owner, standing)
  return standing
}

/** Treats a newcomer as the last of the jobs submitted so far. */
const asJob = (newcomer: Newcomer, now: Date): QueueRow => ({
  ...newcomer,
  run_id: '\uffff',
  short_id: '',
  project: '',
  admitted_at: now,
  not_before: null,
  reason: null,
  has_room: true,
})

function pictureOf({ queue, ground, waits }: Page, now: Date): QueuePicture {
  let ahead_gpus = 0
  const waiting = queue.jobs.map(({ job }, index): PlacedJob => {
    const eta_s = correctedOn(job, waits.get(job.run_id), ground)
    const placed = { job, position: index + 1, ahead_gpus, eta_s }
    ahead_gpus += job.gpus
    return placed
  })
  const holding = ground.holding.map(job => ({ ...job, left_s: expectedLeft(job, ground, now) }))
  const { held, capacity, profiles } = ground
  return { waiting, holding, held, capacity, profiles, roomOf: owner => roomOf(ground, owner) }
}
