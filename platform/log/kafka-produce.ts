import { pause } from '../pause.ts'
import { LogUnavailable, RecordTooLarge } from './event-log.ts'
import type { Group } from './group-commit.ts'
import { encodeProduce } from './kafka-batch.ts'
import {
  type Broker,
  type Cluster,
  createErrorFromCode,
  createLink,
  type Link,
  type LinkOptions,
  leaderOf,
  sendProduce,
} from './kafka-link.ts'

export type Producer = {
  /** Returns the first offset of each group, or the reason why it was not stored. */
  store(groups: readonly Group[]): Promise<(bigint | Error)[]>
  close(): void
}

/** The broker drops a repeat of (producer, epoch, partition, sequence): a retry stores nothing twice. */
type Identity = { producerId: bigint; producerEpoch: number; sequences: Map<number, number> }

/** A group in flight, with the same sequence in each attempt. */
type Pending = { group: Group; index: number; firstSequence: number }

type Round = { groups: readonly Group[]; outcomes: (bigint | Error)[]; pending: Pending[] | null }

/** How long a store is retried before its outcome counts as unknown. */
const storeWithinMs = 9_000
const retryMs = 100
/** Time limit for replicas; below the request's own time limit. */
const replicasWithinMs = 3_000

/**
 * One store at a time, with one batch per partition. After a failure the identity and its sequence numbers are
 * dropped: it is unknown whether the lost batch advanced them, and with a reused number the broker would
 * acknowledge records without storing them.
 */
export function createProducer(options: LinkOptions): Producer {
  const link = createLink(options)
  const producer: { identity: Identity | null } = { identity: null }

  return {
    async store(groups) {
      const round: Round = { groups, outcomes: [], pending: null }
      const deadline = AbortSignal.timeout(storeWithinMs)
      for (;;) {
        try {
          await orAbort(tryOnce(link, producer, round, deadline), deadline)
          return round.outcomes
        } catch (error) {
          link.reset()
          if (!(await mayRetry(error, deadline))) {
            producer.identity = null
            const reason = new LogUnavailable('Kafka did not confirm the records', { cause: error })
            return groups.map((_, index) => round.outcomes[index] ?? reason)
          }
        }
      }
    },
    close: link.reset,
  }
}

/** Checks the deadline after the pause, because it may pass meanwhile. */
async function mayRetry(error: unknown, deadline: AbortSignal): Promise<boolean> {
  if (isFinal(error)) return false
  await pause(retryMs, deadline)
  return !deadline.aborted
}

/** Sends all groups without an outcome to their leaders. Throws if any part failed. */
async function tryOnce(
  link: Link,
  producer: { identity: Identity | null },
  round: Round,
  deadline: AbortSignal,
): Promise<void> {
  const cluster = await link.cluster([...new Set(round.groups.map(({ topic }) => topic))])
  producer.identity ??= await identify(cluster)
  const { identity } = producer
  round.pending ??= round.groups.map((group, index) => ({
    group,
    index,
    firstSequence: identity.sequences.get(group.lane) ?? 0,
  }))
  const parts = new Map<Broker, Pending[]>()
  for (const item of round.pending) {
    const leader = await leaderOf(cluster, item.group.topic, item.group.partition)
    parts.set(leader, [...(parts.get(leader) ?? []), item])
  }
  deadline.throwIfAborted()
  const sent = [...parts].map(async ([leader, items]) =>
    note(await produce(leader, identity, items), round, identity),
  )
  const results = await Promise.allSettled(sent)
  round.pending = round.pending.filter(({ index }) => round.outcomes[index] === undefined)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

async function identify(cluster: Cluster): Promise<Identity> {
  const broker = await cluster.findControllerBroker()
  const { producerId, producerEpoch } = await broker.initProducerId({ transactionTimeout: 0 })
  return { producerId: BigInt(producerId), producerEpoch, sequences: new Map() }
}

/** Keeps the settled outcomes; throws the first error that a retry may fix. */
function note(said: readonly Said[], { outcomes }: Round, { sequences }: Identity): void {
  for (const { item, outcome } of said) {
    if (typeof outcome === 'bigint') sequences.set(item.group.lane, sequenceAfter(item))
    if (typeof outcome === 'bigint' || outcome instanceof RecordTooLarge)
      outcomes[item.index] = outcome
  }
  const failed = said.find(({ item }) => outcomes[item.index] === undefined)
  if (failed) throw failed.outcome
}

/** The broker's result for a group: its first offset, or an error. */
type Said = { item: Pending; outcome: bigint | Error }

async function produce(
  broker: Broker,
  { producerId, producerEpoch }: Identity,
  items: readonly Pending[],
): Promise<Said[]> {
  const { topics } = await sendProduce(
    broker,
    encodeProduce({
      timeoutMs: replicasWithinMs,
      producerId,
      producerEpoch,
      now: Date.now(),
      parts: items.map(({ group, firstSequence }) => ({ ...group, firstSequence })),
    }),
  )
  return items.map(item => {
    const { topic, partition } = item.group
    const stored = topics
      .find(({ topicName }) => topicName === topic)
      ?.partitions.find(answer => answer.partition === partition)
    if (!stored) throw new Error(`the broker did not respond for ${topic}/${partition}`)
    const { errorCode, baseOffset } = stored
    return { item, outcome: errorCode === 0 ? BigInt(baseOffset) : refusalOf(item, errorCode) }
  })
}

/** The broker's `MESSAGE_TOO_LARGE` and `RECORD_LIST_TOO_LARGE`. */
const tooLarge = [10, 18]

function refusalOf({ group: { topic, records } }: Pending, code: number): Error {
  const cause = createErrorFromCode(code)
  if (!tooLarge.includes(code)) return cause
  const bytes = records.reduce((sum, { value }) => sum + value.length, 0)
  return new RecordTooLarge(
    `topic ${topic} does not accept ${bytes} bytes at once; raise its max.message.bytes (kafka-configs --alter --entity-type topics --entity-name ${topic} --add-config max.message.bytes=${bytes * 2})`,
    { cause },
  )
}

/** Sequence numbers wrap after 2^31 - 1, as on the broker. */
const sequenceAfter = ({ group, firstSequence }: Pending): number =>
  (firstSequence + group.records.length) % 2 ** 31

/** A retry cannot help: the broker refused, or lost track of this producer. */
const isFinal = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'KafkaJSProtocolError' &&
  'retriable' in error &&
  error.retriable === false

function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
