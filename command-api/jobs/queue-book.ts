import type { Pool } from 'pg'
import { corrected, noCorrection, type Range, rangesOf } from '../../events/queue-forecast.ts'
import { joining, noStanding, type Placed } from '../../events/queue-order.ts'
import type {
  Newcomer,
  NewPlace,
  PlacedJob,
  QueueBook,
  QueuePicture,
} from '../../events/queue-picture.ts'
import type { Clock } from '../../platform/time.ts'
import { readSwitches } from '../queue-switches.ts'
import { createForecasts, foreseenJobs, futuresOf, isSmall, type Waits } from './forecast.ts'
import { expectedLeft, type Ground, outlookOf, readGround, roomOf } from './outlook.ts'
import { type Queue, type QueueRow, readQueue, readStandings } from './waiting-jobs.ts'

/** One reading of the queue; `waits` are uncorrected. */
type Page = { at: Date; queue: Queue; ground: Ground; waits: Waits }

export type BookDeps = {
  pool: Pool
  now: Clock
  /** A forecast could not be computed. */
  failed: (error: unknown) => void
}

/** How long a page is read from, in milliseconds. */
const pageMs = 1000
/** A queue of so many jobs is read anew after each submit made here. */
const readAnewUpTo = 200

export function createQueueBook({ pool, now, failed }: BookDeps): QueueBook {
  const forecasts = createForecasts(failed)
  let page: Page | null = null
  let reading: Promise<Page> | null = null
  const read = async (): Promise<Page> => {
    const at = now()
    const [queue, ground] = await Promise.all([readQueue(pool, at), readGround(pool)])
    const first = queue.jobs.slice(0, foreseenJobs)
    const ids = first.map(({ job }) => job.run_id)
    const waits = forecasts.of(outlookOf(first, ground, at), ids, at.getTime())
    return { at, queue, ground, waits }
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
    const age = page ? now().getTime() - page.at.getTime() : pageMs
    return page && age >= 0 && age < pageMs ? page : (reading ?? readNow())
  }
  const readAnew = () => {
    page = null
    reading = null
  }
  return {
    placesOf: async newcomers => placesIn(pool, await current(), newcomers, now()),
    picture: async () => pictureOf(await current(), now()),
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
      if (!page || page.queue.jobs.length <= readAnewUpTo) readAnew()
    },
  }
}

async function placesIn(
  pool: Pool,
  { queue, ground, waits }: Page,
  newcomers: readonly Newcomer[],
  now: Date,
): Promise<NewPlace[]> {
  const jobs = [...queue.jobs]
  const places: NewPlace[] = []
  for (const newcomer of newcomers) {
    const standing = await standingOf(pool, queue, newcomer.owner, now)
    const { placed, index } = joining(jobs, asJob(newcomer, now), standing)
    const neighbour = jobs[Math.min(index, jobs.length - 1)]?.job.run_id ?? ''
    jobs.splice(index, 0, placed)
    const foretold = etaOf(index) ?? waits.get(neighbour) ?? null
    const view = {
      position: index + 1,
      ahead_gpus: gpusOf(jobs, index),
      eta_s: correctedOn(newcomer, foretold, ground),
      reason: 'waiting_capacity' as const,
    }
    places.push({ view, foretold })
  }
  return places

  /** Of a short queue; in a long one the job behind, whose place it takes, tells. */
  function etaOf(index: number) {
    if (!isSmall({ waiting: jobs, running: ground.holding })) return null
    const outlook = outlookOf(jobs, ground, now)
    return rangesOf(outlook, futuresOf(outlook))[index]
  }
}

/** By what forecasts for its executor lacked of late. */
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

/** A newcomer as the last of the jobs that were submitted until now. */
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

/** Of the first jobs, `count` of them. */
function gpusOf(jobs: readonly Placed<QueueRow>[], count: number): number {
  let gpus = 0
  for (let index = 0; index < count; index++) gpus += jobs[index]?.job.gpus ?? 0
  return gpus
}

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
