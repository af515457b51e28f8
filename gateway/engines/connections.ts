import { Client, type Dispatcher, Pool } from 'undici'

/** How many requests each engine gets at once from this gateway; the limits of deployments are lower. */
const connectionsEach = 4096
/**
 * How long an unused connection is kept where the engine names no time of its own. Servers in Python usually close after 5 s
 * (uvicorn, vLLM): a connection must be given up before its engine does so, or a request may meet the close on its way.
 */
const keptMs = 4_000
/** How long an engine that closes connections before `keptMs` gets a new one for each request that cannot be repeated. */
const distrustMs = 60_000

/** A request on its way, which learns which connection took it. */
export type OnConnection = { connection: Connection | null }

/** A connection, opened again whenever it was closed. */
export type Connection = {
  /** A request is about to be written. True if the connection carried others before. */
  begin(): boolean
  /** Its response has ended. */
  end(): void
}

/** The connections to one engine. */
export type EngineConnections = {
  /** Prefers an open connection. */
  kept: Dispatcher
  /** Opens a connection for one request. */
  fresh(): Dispatcher
  /** Whether the engine may close an open connection at any moment. */
  isDistrusted(): boolean
  /** The engine closed a connection that was kept for the next request. */
  distrust(): void
  /** Requests under way still end. */
  close(): Promise<void>
  destroy(): Promise<void>
}

/** @param clock milliseconds of a clock that never goes back */
export function connectionsTo(
  origin: string,
  options: Client.Options,
  clock: () => number,
): EngineConnections {
  let distrustedUntil = Number.NEGATIVE_INFINITY
  const distrust = () => {
    distrustedUntil = clock() + distrustMs
  }
  const all: Client.Options = {
    ...options,
    // One request at a time: a truncated response must not reach another caller.
    pipelining: 1,
    keepAliveTimeout: keptMs,
    maxHeaderSize: 64 * 1024,
  }
  const kept = new Pool(origin, {
    ...all,
    connections: connectionsEach,
    factory: (to, given) => new KeptConnection(to, given, distrust),
  })
  return {
    kept,
    fresh() {
      const client = new Client(origin, all)
      // After the request that follows.
      queueMicrotask(() => void client.close())
      return client
    },
    isDistrusted: () => clock() < distrustedUntil,
    distrust,
    close: () => kept.close(),
    destroy: () => kept.destroy(),
  }
}

class KeptConnection extends Client implements Connection {
  #begun = 0
  #isServing = false

  constructor(origin: URL, options: object, closedByEngine: () => void) {
    super(origin, options)
    this.on('connect', () => {
      this.#begun = 0
    })
    this.on('disconnect', (_origin, _targets, error) => {
      const isOurs = error.code === 'UND_ERR_INFO'
      if (this.#begun > 0 && !this.#isServing && !isOurs) closedByEngine()
      this.#isServing = false
    })
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & Partial<OnConnection>,
  ): boolean {
    handler.connection = this
    return super.dispatch(options, handler)
  }

  begin(): boolean {
    this.#isServing = true
    return this.#begun++ > 0
  }

  end(): void {
    this.#isServing = false
  }
}
