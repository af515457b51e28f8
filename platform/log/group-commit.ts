import { type LogRecord, LogUnavailable, type Position } from './event-log.ts'
import { partitionOf } from './partition.ts'

/** One partition of one topic, under a number by which the adapter knows it. */
export type LaneId = { lane: number; topic: string; partition: number }

/** Records for one lane, in the order of the calls to `append`. */
export type Group = LaneId & { records: LogRecord[] }

export type GroupCommitDeps = {
  /** The lanes of a topic, index = partition; throws for a topic that is not known. */
  lanesOf(topic: string): readonly LaneId[]
  /** Answers the offset of the first record of each group, in ascending lanes; or why it is not stored. */
  store(groups: readonly Group[]): Promise<(bigint | Error)[]>
  /** Told what was stored, before the appends are answered. */
  committed?: (group: Group, first: bigint) => void
  /** How much goes into one `store`; a single append may be larger. */
  limits: { totalBytes: number; laneBytes: number }
}

export type GroupCommit = {
  append(topic: string, records: readonly LogRecord[]): Promise<Position[]>
  /** Resolves when everything accepted is answered. */
  drained(): Promise<void>
}

type Waiting = {
  lanes: readonly LaneId[]
  records: readonly LogRecord[]
  resolve: (positions: Position[]) => void
  reject: (error: Error) => void
}

/** Where each record of an append went. */
type Place = { group: Group; nth: number }

type Flush = { groups: Group[]; appends: { append: Waiting; places: Place[] }[] }

/**
 * While one `store` is on its way, later appends wait and go together in the next, whatever their
 * topics. One at a time keeps the order of the calls.
 */
export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const waiting: Waiting[] = []
  let flushing: Promise<void> | null = null

  const flushAll = async () => {
    while (waiting.length > 0) {
      const isAway = await flush(deps, gather(waiting, deps.limits))
      // Who came meanwhile would only wait as long again for the same answer.
      if (isAway) for (const { reject } of waiting.splice(0)) reject(isAway)
    }
    flushing = null
  }
  return {
    append(topic, records) {
      const lanes = deps.lanesOf(topic)
      if (records.some(({ key }) => key.includes('\0')))
        throw new TypeError('a key of the log holds a NUL character')
      if (records.length === 0) return Promise.resolve([])
      return new Promise((resolve, reject) => {
        waiting.push({ lanes, records, resolve, reject })
        flushing ??= Promise.resolve().then(flushAll)
      })
    },
    async drained() {
      await flushing
    },
  }
}

/** Takes from the front of `waiting` what one store may hold, at least one append. */
function gather(waiting: Waiting[], limits: GroupCommitDeps['limits']): Flush {
  const groups = new Map<number, Group>()
  const bytes = new Map<number, number>()
  let total = 0
  let isFull = false
  const appends: Flush['appends'] = []
  while (!isFull) {
    const append = waiting.shift()
    if (!append) break
    const places = append.records.map(record => {
      const id = laneOf(append.lanes, record.key)
      const group = groups.get(id.lane) ?? { ...id, records: [] }
      groups.set(id.lane, group)
      const inLane = (bytes.get(id.lane) ?? 0) + record.value.length
      bytes.set(id.lane, inLane)
      total += record.value.length
      isFull ||= inLane >= limits.laneBytes || total >= limits.totalBytes
      return { group, nth: group.records.push(record) - 1 }
    })
    appends.push({ append, places })
  }
  return { groups: [...groups.values()].sort((a, b) => a.lane - b.lane), appends }
}

function laneOf(lanes: readonly LaneId[], key: string): LaneId {
  const lane = lanes[partitionOf(key, lanes.length)]
  if (!lane) throw new Error('a topic without partitions')
  return lane
}

/** Answers the error when the log was away, so that nothing was stored. */
async function flush(deps: GroupCommitDeps, flush: Flush): Promise<LogUnavailable | null> {
  const outcomes = await storeOrFail(deps, flush.groups)
  const firsts = new Map(flush.groups.map((group, index) => [group, outcomes[index]]))
  for (const [group, first] of firsts) if (typeof first === 'bigint') deps.committed?.(group, first)
  for (const { append, places } of flush.appends) {
    const failure = places.map(({ group }) => firsts.get(group)).find(isError)
    if (failure) append.reject(failure)
    else append.resolve(places.map(place => positionOf(place, firsts.get(place.group))))
  }
  const failed = outcomes.filter(outcome => outcome instanceof LogUnavailable)
  return failed.length === outcomes.length ? (failed[0] ?? null) : null
}

async function storeOrFail(deps: GroupCommitDeps, groups: readonly Group[]) {
  try {
    return await deps.store(groups)
  } catch (error) {
    return groups.map(() => error as Error)
  }
}

const isError = (outcome: unknown): outcome is Error => outcome instanceof Error

function positionOf({ group, nth }: Place, first: bigint | Error | undefined): Position {
  if (typeof first !== 'bigint') throw new Error(`no offset for lane ${group.lane}`)
  return { topic: group.topic, partition: group.partition, offset: first + BigInt(nth) }
}
