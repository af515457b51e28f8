import { repeat } from '../../platform/repeat.ts'
import type { Reactor } from '../effects/reactor.ts'
import { clearDone } from './clear.ts'
import { joinedClosing, type Leased, leaseDue } from './lease.ts'
import { type PerformDeps, type Performed, performLeased } from './perform.ts'

export type DutiesDeps<D> = Omit<PerformDeps<D>, 'closeAlone'> & {
  reactors: readonly Reactor<D>[]
  /** How often to look for due duties without being woken, in milliseconds; other processes add duties too. */
  pollMs?: number
  measure?: (reactor: string, result: Performed) => void
}

export type Duties = {
  /** Looks for due duties at once; call it after duties were added. */
  wake(): void
  /** Releases the duties in progress; resolves when all of them have ended. */
  stop(): Promise<void>
}

const defaultPollMs = 500

/**
 * Performs due duties; any number of processes may do so at once. Each reactor has its own concurrency limit, so that
 * a hanging or failing one does not hold up the others. Duties of reactors unknown to this process are left to others.
 */
export function startDuties<D>(deps: DutiesDeps<D>): Duties {
  const { reactors, pool, logger, now, pollMs = defaultPollMs, measure = () => {} } = deps
  const reactorOf = new Map(reactors.map(reactor => [reactor.name, reactor]))
  if (reactorOf.size < reactors.length) throw new Error('two reactors have the same name')
  const performing = { ...deps, closeAlone: joinedClosing(pool, now) }
  const busy = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()

  const roomsNow = () =>
    reactors
      .map(reactor => ({ reactor, room: reactor.atOnce - (busy.get(reactor.name) ?? 0) }))
      .filter(({ room }) => room > 0)

  const perform = async (reactor: Reactor<D>, duty: Leased) => {
    busy.set(reactor.name, (busy.get(reactor.name) ?? 0) + 1)
    try {
      measure(reactor.name, await performLeased(performing, reactor, duty, stopping.signal))
    } catch (error) {
      // The duty is performed again when its lease runs out.
      logger.warn({ err: error, duty_id: duty.duty_id }, 'a duty could not be closed')
    } finally {
      busy.set(reactor.name, (busy.get(reactor.name) ?? 1) - 1)
      loop.wake()
    }
  }

  const start = (duty: Leased) => {
    const reactor = reactorOf.get(duty.reactor)
    if (!reactor) return
    const work: Promise<void> = perform(reactor, duty).finally(() => underWay.delete(work))
    underWay.add(work)
  }

  const loop = repeat(
    async () => {
      const rooms = roomsNow()
      if (rooms.length > 0) for (const duty of await leaseDue(pool, rooms, now())) start(duty)
      return pollMs
    },
    { failed: error => logger.warn({ err: error }, 'due duties could not be read, will retry') },
  )
  const clearing = clearDone(deps)

  return {
    wake: loop.wake,
    async stop() {
      stopping.abort()
      await Promise.all([loop.stop(), clearing.stop()])
      await Promise.all(underWay)
    },
  }
}
