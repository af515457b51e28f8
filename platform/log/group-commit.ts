import { isLogAway, type LogRecord, type LogUnavailable, type Position } from './event-log.ts'
import { partitionOf } from './partition.ts'

/** A lane is one partition of one topic, under the adapter's own number for it. */
export type LaneId = { lane: number; topic: string; partition: number }

/** Records for one lane, in the order of the calls to `append`. */
export type Group = LaneId & { records: LogRecord[] }

export type GroupCommitDeps = {
  /** The lanes of a topic, index = partition; throws for an unknown topic. */
  lanesOf(topic: string): readonly LaneId[]
  /** Returns, by ascending lane, the first offset of each group or the reason why it was not stored. */
  store(groups: readonly Group[]): Promise<(bigint | Error)[]>
  /** Called with each stored group, before its appends resolve. */
  committed?: (group: Group, first: bigint) => void
  /** Size of one `store`; a single append may exceed it. */
  limits: { totalBytes: number; laneBytes: number }
}

export type GroupCommit = {
  append(topic: string, records: readonly LogRecord[]): Promise<Position[]>
  /** Resolves when no accepted append is pending. */
  drained(): Promise<void>
}

type Waiting = {
  lanes: readonly LaneId[]
  records: readonly LogRecord[]
  resolve: (positions: Position[]) => void
  reject: (error: Error) => void
}

/** The group and index of a record. */
type Place = { group: Group; nth: number }

type Flush = { groups: Group[]; appends: { append: Waiting; places: Place[] }[] }

/** Appends that arrive together share a store; without the wait, the first of them would have one of its own. */
const lingerMs = 1

/**
 * While one `store` is in flight, later appends wait and share the next one, whatever their topics. One at a time
 * preserves the order of the calls.
 */
export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const waiting: Waiting[] = []
  let flushing: Promise<void> | null = null

  const flushAll = async () => {
    while (waiting.length > 0) {
      await new Promise(resolve => setTimeout(resolve, lingerMs))
      const away = await flush(deps, gather(waiting, deps.limits))
      // Appends that arrived in the meantime would only wait for the same failure.
      if (away) for (const { reject } of waiting.splice(0)) reject(away)
    }
    flushing = null
  }
  return {
    append(topic, records) {
      const lanes = deps.lanesOf(topic)
      if (records.some(({ key }) => key.includes('\0')))
        throw new TypeError('a log key contains a NUL character')
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

/** Removes from the front of `waiting` what fits in one store, at least one append. */
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

/** Returns the error if the log was unreachable. */
async function flush(deps: GroupCommitDeps, flush: Flush): Promise<LogUnavailable | null> {
  const outcomes = await storeOrFail(deps, flush.groups)
  const firsts = new Map(flush.groups.map((group, index) => [group, outcomes[index]]))
  for (const [group, first] of firsts) if (typeof first === 'bigint') deps.committed?.(group, first)
  for (const { append, places } of flush.appends) {
    const failure = places.map(({ group }) => firsts.get(group)).find(isError)
    if (failure) append.reject(failure)
    else append.resolve(places.map(place => positionOf(place, firsts.get(place.group))))
  }
  const failed = outcomes.filter(isLogAway)
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
