import { Pool } from 'undici'
import { type Address, connectOptions, parseAddress } from '../platform/http/address.ts'
import type { ServingMap } from './map.ts'

/** How many requests each engine gets at once from this gateway; the limits of deployments are lower. */
const connectionsEach = 4096
const connectMs = 5_000

type EngineConnections = Address & { dispatcher: Pool }

/** The connections of this gateway to engines, by address. */
export class EnginePools {
  readonly #map: ServingMap
  readonly #open = new Map<string, EngineConnections>()

  constructor(map: ServingMap) {
    this.#map = map
  }

  to(base_url: string): EngineConnections {
    const known = this.#open.get(base_url)
    if (known) return known
    // Engines come and go, each with its own address.
    this.#closeUnused()
    const address = parseAddress(base_url)
    const opened = { ...address, dispatcher: openPool(address) }
    this.#open.set(base_url, opened)
    return opened
  }

  /** Requests under way still end. */
  #closeUnused(): void {
    const used = this.#map.addresses()
    for (const [base_url, { dispatcher }] of this.#open)
      if (!used.has(base_url) && this.#open.delete(base_url)) void dispatcher.close()
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ dispatcher }) => dispatcher.destroy()))
  }
}

const openPool = (address: Address): Pool =>
  new Pool(address.origin, {
    connections: connectionsEach,
    // One request at a time: a truncated response must not reach another caller.
    pipelining: 1,
    connect: connectOptions(address, connectMs),
    maxHeaderSize: 64 * 1024,
  })
