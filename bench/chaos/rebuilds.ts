import { setTimeout as pause } from 'node:timers/promises'
import { askApi } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { Random } from '../../test/whole/chaos/random.ts'
import type { Reader } from './read-back.ts'

type Projections = {
  projections: { name: string; generation: number; parked: number; halted: string | null }[]
  rebuild: { state: 'idle' | 'running' | 'succeeded' | 'failed'; error: string | null }
}

export type Rebuilds = {
  asked: number
  succeeded: number
  /** Failures by the reason that the server gives; a killed process gives none. */
  failed: Map<string, number>
  cutShort: number
}

/** Between two rebuilds, in milliseconds. */
const restMs = { min: 500, max: 4_000 }
const pollMs = 250
const rebuiltWithinMs = 120_000

const look = (reader: Reader) =>
  askApi<Projections>(reader.url, 'GET', '/api/admin/projections', { token: reader.token })

const ask = (reader: Reader) =>
  askApi(reader.url, 'POST', '/api/admin/projections/all/rebuild', { token: reader.token })

/** Requests one rebuild after another until stopped; a kill may end any of them. */
export function rebuildOften(
  reader: Reader,
  random: Random,
): { rebuilds: Rebuilds; stop(): Promise<void> } {
  const rebuilds: Rebuilds = { asked: 0, succeeded: 0, failed: new Map(), cutShort: 0 }
  let stopped = false
  const follow = async () => {
    const { rebuild } = await look(reader)
    if (rebuild.state === 'running') return false
    if (rebuild.state === 'succeeded') rebuilds.succeeded++
    // The process that received the request is gone, and its successor does not know of a rebuild.
    if (rebuild.state === 'idle') rebuilds.cutShort++
    if (rebuild.state === 'failed') {
      const why = rebuild.error ?? 'no reason'
      rebuilds.failed.set(why, (rebuilds.failed.get(why) ?? 0) + 1)
    }
    return true
  }
  const run = async () => {
    while (!stopped) {
      await pause(random.whole(restMs.min, restMs.max))
      const isAsked = await ask(reader).then(
        () => true,
        () => false,
      )
      if (!isAsked) continue
      rebuilds.asked++
      while (!stopped && !(await follow().catch(() => false))) await pause(pollMs)
    }
  }
  const running = run()
  return {
    rebuilds,
    async stop() {
      stopped = true
      await running
    },
  }
}

/** Rebuilds once without disturbance; throws if that fails. */
export async function rebuildOnce(reader: Reader): Promise<void> {
  const isOver = async () => {
    const { rebuild } = await look(reader)
    return rebuild.state !== 'running' && rebuild
  }
  await until('no rebuild runs', rebuiltWithinMs, isOver)
  await ask(reader)
  const { state, error } = await until('the rebuild is over', rebuiltWithinMs, isOver)
  if (state !== 'succeeded') throw new Error(`the last rebuild ${state}: ${error}`)
}

/** Describes the faults of the projections: parked records, and projections that stand still. */
export async function faultsOfProjections(reader: Reader): Promise<string[]> {
  const { projections } = await look(reader)
  return projections.flatMap(({ name, parked, halted }) => [
    ...(parked > 0 ? [`${name} has set ${parked} records aside`] : []),
    ...(halted === null ? [] : [`${name} is halted: ${halted}`]),
  ])
}
