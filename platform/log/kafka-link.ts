import { createRequire } from 'node:module'
import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { LogUnavailable } from './event-log.ts'
import { registerCodecs } from './kafka-codecs.ts'
import {
  type KafkaSecurity,
  onLoopbackOnly,
  readProtection,
  refusePlaintext,
} from './kafka-security.ts'

/**
 * kafkajs is used only for its protocol: connections, metadata and requests. Its producer and consumer are not used,
 * because their failures cannot be observed from outside: a rejected send of the idempotent producer keeps its
 * sequence numbers, so that the broker mistakes the next send for a repeat and acknowledges records it never stored;
 * an abandoned send is still retried; and a consumer needs a group, whose joins and heartbeats take time and fail
 * independently.
 */
const load = createRequire(import.meta.url)

const Cluster: new (options: object) => Cluster = load('kafkajs/src/cluster')
const { createLogger }: { createLogger: (options: object) => unknown } = load('kafkajs/src/loggers')

/** Adds the type of the result; only kafkajs uses it. */
type Decoding<T> = { decode: unknown; parse: (decoded: unknown) => Promise<T> }
const producedDecoding: Decoding<unknown> = load(
  'kafkajs/src/protocol/requests/produce/v7/response',
)
/** The error of a code of the protocol. */
export const { createErrorFromCode }: { createErrorFromCode: (code: number) => Error } = load(
  'kafkajs/src/protocol/error',
)
const Encoder: new (size: number) => { buf: Buffer; offset: number } = load(
  'kafkajs/src/protocol/encoder',
)

type RequestQueue = {
  pending: unknown[]
  throttledUntil: number
  throttleCheckTimeoutId: NodeJS.Timeout | null
  checkPendingRequests(): void
}
const RequestQueue: { prototype: RequestQueue & { scheduleCheckPendingRequests(): void } } = load(
  'kafkajs/src/network/requestQueue',
)
const throttleCheckMs = 10

// Otherwise every kafkajs connection wakes up each millisecond forever, with a Node warning about a negative timeout,
// even if nothing is pending (kafkajs issue 1751).
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId) return
  const waitMs = Math.max(this.throttledUntil - Date.now(), throttleCheckMs)
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null
    this.checkPendingRequests()
  }, waitMs)
}

registerCodecs()

export type Cluster = {
  connect(): Promise<void>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[]
  findBroker(node: { nodeId: number }): Promise<Broker>
  findControllerBroker(): Promise<Broker>
  fetchTopicsOffset(
    topics: { topic: string; partitions: { partition: number }[]; fromBeginning: boolean }[],
  ): Promise<{ topic: string; partitions: { partition: number; offset: string }[] }[]>
}

type Produced = {
  topics: {
    topicName: string
    partitions: { partition: number; errorCode: number; baseOffset: string }[]
  }[]
}

export type Broker = {
  connectionPool: { send<T>(exchange: { request: object; response: Decoding<T> }): Promise<T> }
  initProducerId(request: object): Promise<{ producerId: string; producerEpoch: number }>
  fetch(request: {
    maxWaitTime: number
    minBytes: number
    maxBytes: number
    isolationLevel: number
    topics: {
      topic: string
      partitions: { partition: number; fetchOffset: string; maxBytes: number }[]
    }[]
  }): Promise<{
    /** How long the broker throttles this client, in milliseconds; it must send nothing meanwhile. */
    clientSideThrottleTime?: number
    responses: { partitions: { highWatermark: string; messages: FetchedMessage[] }[] }[]
  }>
}

export type FetchedMessage = {
  offset: string
  key: Buffer | null
  value: Buffer | null
  headers: Record<string, Buffer>
  isControlRecord: boolean
}

export type LinkOptions = {
  /** `host:port` of some brokers, from which the others are discovered. */
  brokers: readonly string[]
  /** Shown in the broker's logs. */
  clientId: string
  /** Default: plaintext, which only brokers on this machine accept. */
  security?: KafkaSecurity
}

/** Connections to a cluster that are dropped at the first error, so that no state outlives a failure. */
export type Link = {
  /** Connected, with the metadata of `topics`; the same cluster until `reset`. */
  cluster(topics: readonly string[]): Promise<Cluster>
  /** Aborts requests in flight: nothing more of them is sent. */
  reset(): void
}

export const requestTimeoutMs = 4_000
const connectionTimeoutMs = 2_000
/**
 * Longer than kafkajs needs in the worst case to connect, learn the leaders and send a request, each within its own
 * limit.
 */
const attemptWithinMs = 30_000

/**
 * Rejects if `work` has not settled in time. Some waits of kafkajs have no end: the one for the check of a password by
 * a broker before Kafka 1.0, and the one for requests in flight when it leaves a broker.
 */
export async function inTime<T>(work: Promise<T>, withinMs = attemptWithinMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const why = `no response within ${withinMs / 1000} s`
    timer = setTimeout(() => reject(new LogUnavailable(why)), withinMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

export function createLink(options: LinkOptions): Link {
  let current: { cluster: Promise<Cluster>; sockets: Sockets } | null = null
  return {
    async cluster(topics) {
      if (!current) {
        const sockets = createSockets(options.security)
        current = { sockets, cluster: connect(options, sockets) }
      }
      const cluster = await current.cluster
      await cluster.addMultipleTargetTopics([...topics])
      return cluster
    },
    reset() {
      current?.sockets.breakOff()
      current = null
    },
  }
}

type Target = { host: string; port: number; ssl?: ConnectionOptions; onConnect: () => void }

export type Sockets = {
  /** As kafkajs wants it. */
  open(target: Target): Socket
  /** Closes permanently; otherwise kafkajs would reconnect for requests in flight. */
  breakOff(): void
}

export function createSockets(security: KafkaSecurity = onLoopbackOnly): Sockets {
  const sockets = new Set<Socket>()
  let isOver = false
  return {
    open(target) {
      if (isOver) throw new Error('this connection to Kafka was given up')
      refusePlaintext(target.host, security)
      const socket = openSocket(target)
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    breakOff() {
      isOver = true
      for (const socket of sockets) socket.destroy(new Error('given up'))
    },
  }
}

function openSocket({ host, port, ssl, onConnect }: Target): Socket {
  if (!ssl) return connectSocket({ host, port, noDelay: true, keepAlive: true }, onConnect)
  const socket = connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl })
  return socket.setNoDelay().setKeepAlive(true).once('secureConnect', onConnect)
}

async function connect(options: LinkOptions, sockets: Sockets): Promise<Cluster> {
  const { brokers, clientId, security = onLoopbackOnly } = options
  const cluster = new Cluster({
    ...(await readProtection(security)),
    brokers: createRotation(brokers),
    clientId,
    logger: createLogger({ level: 0, logCreator: () => () => {} }),
    socketFactory: sockets.open,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
    // We retry ourselves, so that each failure is visible at once.
    retry: { retries: 0 },
  })
  await cluster.connect()
  return cluster
}

/** Rotates the list per connection, because kafkajs always starts with the first broker. */
function createRotation(brokers: readonly string[]): string[] {
  const first = Math.floor(Math.random() * brokers.length)
  return [...brokers.slice(first), ...brokers.slice(0, first)]
}

/** Sends a body from `encodeProduce`; returns the offset, or the code of the error, of each part. */
export async function sendProduce(broker: Broker, body: Buffer): Promise<Produced> {
  return await broker.connectionPool.send({
    request: {
      apiKey: 0,
      apiVersion: 7,
      apiName: 'Produce',
      expectResponse: () => true,
      encode: async () => Object.assign(new Encoder(1), { buf: body, offset: body.length }),
    },
    response: { decode: producedDecoding.decode, parse: async decoded => decoded as Produced },
  })
}

/** Whether a retry may succeed without intervention: the connection or the cluster failed, not the request. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // kafkajs wraps errors that it would have retried if retries were enabled.
  if (error.name === 'KafkaJSNumberOfRetriesExceeded') return isPassing(error.cause)
  return error instanceof LogUnavailable || ('retriable' in error && error.retriable === true)
}

/** The current leader of a partition. */
export async function leaderOf(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<Broker> {
  const found = cluster
    .findTopicPartitionMetadata(topic)
    .find(({ partitionId }) => partitionId === partition)
  if (!found || found.leader < 0) throw new LogUnavailable(`${topic}/${partition} has no leader`)
  return await cluster.findBroker({ nodeId: found.leader })
}
