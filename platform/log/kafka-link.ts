import { createRequire } from 'node:module'
import { connect as connectSocket, type Socket } from 'node:net'

/**
 * kafkajs is used at the level of its protocol: connections, metadata and requests. Its producer and
 * consumer are not, because what they do on failure cannot be told from outside: a rejected send of the
 * idempotent producer leaves its sequence numbers behind, whereupon the broker takes the next send for a
 * repeat and acknowledges what it never stored; a send given up on is still retried; and a consumer needs
 * a group, whose joins and heartbeats cost time and fail on their own.
 */
const load = createRequire(import.meta.url)

const Cluster: new (options: object) => Cluster = load('kafkajs/src/cluster')
const { createLogger }: { createLogger: (options: object) => unknown } = load('kafkajs/src/loggers')

/** Names the type that comes out; it is used by nobody but kafkajs. */
type Decoding<T> = { decode: unknown; parse: (decoded: unknown) => Promise<T> }
const producedDecoding: Decoding<Produced> = load(
  'kafkajs/src/protocol/requests/produce/v7/response',
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

// As kafkajs has it, every connection wakes up each millisecond for ever, with a warning from Node about
// a negative time, though nothing is pending (its issue 1751).
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length === 0 || this.throttleCheckTimeoutId) return
  const waitMs = Math.max(this.throttledUntil - Date.now(), throttleCheckMs)
  this.throttleCheckTimeoutId = setTimeout(() => {
    this.throttleCheckTimeoutId = null
    this.checkPendingRequests()
  }, waitMs)
}

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
  topics: { topicName: string; partitions: { partition: number; baseOffset: string }[] }[]
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
  }): Promise<{ responses: { partitions: { messages: FetchedMessage[] }[] }[] }>
}

export type FetchedMessage = {
  offset: string
  key: Buffer | null
  value: Buffer | null
  headers: Record<string, Buffer>
  isControlRecord: boolean
}

export type LinkOptions = {
  /** `host:port` of some brokers; the rest is learnt from them. */
  brokers: readonly string[]
  /** Known to the broker, for its logs. */
  clientId: string
}

/** Connections to a cluster that are thrown away at the first trouble: no state outlives a failure. */
export type Link = {
  /** Connected and with the metadata of `topics`; the same one until `reset`. */
  cluster(topics: readonly string[]): Promise<Cluster>
  /** Breaks off what is under way: nothing of it is sent any more. */
  reset(): void
}

export const requestTimeoutMs = 4_000
const connectionTimeoutMs = 2_000

export function createLink(options: LinkOptions): Link {
  let current: { cluster: Promise<Cluster>; sockets: Sockets } | null = null
  return {
    async cluster(topics) {
      if (!current) {
        const sockets = createSockets()
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

type Sockets = {
  open(target: { host: string; port: number; onConnect: () => void }): Socket
  /** Ends all, and opens no more: kafkajs would connect again for what was still on its way. */
  breakOff(): void
}

function createSockets(): Sockets {
  const sockets = new Set<Socket>()
  let isOver = false
  return {
    open({ host, port, onConnect }) {
      if (isOver) throw new Error('this connection to Kafka was given up')
      const socket = connectSocket({ host, port, noDelay: true, keepAlive: true }, onConnect)
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    breakOff() {
      isOver = true
      for (const socket of sockets) socket.destroy(new Error('given up'))
    },
  }
}

async function connect({ brokers, clientId }: LinkOptions, sockets: Sockets): Promise<Cluster> {
  const cluster = new Cluster({
    brokers: createRotation(brokers),
    clientId,
    logger: createLogger({ level: 0, logCreator: () => () => {} }),
    socketFactory: sockets.open,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    metadataMaxAge: 300_000,
    allowAutoTopicCreation: false,
    // Retrying is ours: this way each failure is seen at once.
    retry: { retries: 0 },
  })
  await cluster.connect()
  return cluster
}

/** Another one first at each connection: kafkajs begins with the first of the list. */
function createRotation(brokers: readonly string[]): string[] {
  const first = Math.floor(Math.random() * brokers.length)
  return [...brokers.slice(first), ...brokers.slice(0, first)]
}

/** Sends what `encodeProduce` made, and answers where it was stored. Throws where any part was not. */
export async function sendProduce(broker: Broker, body: Buffer): Promise<Produced> {
  return await broker.connectionPool.send({
    request: {
      apiKey: 0,
      apiVersion: 7,
      apiName: 'Produce',
      expectResponse: () => true,
      encode: async () => Object.assign(new Encoder(1), { buf: body, offset: body.length }),
    },
    response: producedDecoding,
  })
}

/** The broker that leads a partition now. */
export async function leaderOf(
  cluster: Cluster,
  topic: string,
  partition: number,
): Promise<Broker> {
  const found = cluster
    .findTopicPartitionMetadata(topic)
    .find(({ partitionId }) => partitionId === partition)
  if (!found || found.leader < 0) throw new Error(`${topic}/${partition} has no leader`)
  return await cluster.findBroker({ nodeId: found.leader })
}
