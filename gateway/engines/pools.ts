import { type Address, connectOptions, parseAddress } from '../../platform/http/address.ts'
import type { ServingMap } from '../map.ts'
import { connectionsTo, type EngineConnections } from './connections.ts'

const connectMs = 5_000

type Reached = Address & { engine: EngineConnections }

/** The connections of this gateway to engines, by address. */
export class EnginePools {
  readonly #map: ServingMap
  readonly #clock: () => number
  readonly #open = new Map<string, Reached>()

  /** @param clock milliseconds of a clock that never goes back */
  constructor(map: ServingMap, clock: () => number) {
    this.#map = map
    this.#clock = clock
  }

  to(base_url: string): Reached {
    const known = this.#open.get(base_url)
    if (known) return known
    // Engines come and go, each with its own address.
    this.#closeUnused()
    const address = parseAddress(base_url)
    const connect = connectOptions(address, connectMs)
    const opened = { ...address, engine: connectionsTo(address.origin, { connect }, this.#clock) }
    this.#open.set(base_url, opened)
    return opened
  }

  /** Requests under way still end. */
  #closeUnused(): void {
    const used = this.#map.addresses()
    for (const [base_url, { engine }] of this.#open)
      if (!used.has(base_url) && this.#open.delete(base_url)) void engine.close()
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ engine }) => engine.destroy()))
  }
}
