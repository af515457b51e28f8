import { type Admin, Kafka, logLevel, type SASLOptions } from 'kafkajs'
import { type EventLog, LogUnavailable } from './event-log.ts'
import { createGroupCommit, type LaneId } from './group-commit.ts'
import { createLink, createSockets, inTime, type Link, type LinkOptions } from './kafka-link.ts'
import { createProducer } from './kafka-produce.ts'
import { readKafka } from './kafka-read.ts'
import { onLoopbackOnly, readProtection } from './kafka-security.ts'
import type { Topic } from './topic.ts'

export type KafkaLogOptions = LinkOptions & { topics: readonly Topic[] }

/** Below the broker's default batch limit (1 MiB with overhead), which existing topics may have. */
const flushLimits = { totalBytes: 4 * 1024 * 1024, laneBytes: 768 * 1024 }
/** Large enough for a record of the largest accepted body. */
const largestBatchBytes = 16 * 1024 * 1024
const dayMs = 86_400_000
const topicsWithinMs = 30_000
const retryMs = 100

/** Opens the log on a Kafka cluster and creates missing topics. */
export async function openKafkaLog(options: KafkaLogOptions): Promise<EventLog> {
  const { topics } = options
  await makeTopics(options)
  const control = createLink(options)
  await untilLed(control, topics).catch(error => {
    control.reset()
    throw error
  })
  const lanes = numberLanes(topics)
  const lanesOf = (topic: string): LaneId[] => {
    const found = lanes.get(topic)
    if (!found) throw new Error(`there is no topic ${topic}`)
    return found
  }
  const closing = new AbortController()
  const producer = createProducer(options)
  const commits = createGroupCommit({ lanesOf, store: producer.store, limits: flushLimits })

  return {
    async append(topic, records) {
      if (closing.signal.aborted) throw new LogUnavailable('the event log is closed')
      return await commits.append(topic, records)
    },
    read(topic, partition, from, { maxBytes, signal }) {
      if (!lanesOf(topic)[partition]) throw new Error(`${topic} has no partition ${partition}`)
      const ending = AbortSignal.any([signal, closing.signal])
      return readKafka(options, topic, partition, from, { maxBytes, signal: ending })
    },
    end: topic => offsets(control, lanesOf(topic), false),
    start: topic => offsets(control, lanesOf(topic), true),
    async close() {
      if (closing.signal.aborted) return
      closing.abort()
      await commits.drained()
      producer.close()
      control.reset()
    },
  }
}

/** Numbers lanes in order of declaration; the numbers have no meaning outside this process. */
function numberLanes(topics: readonly Topic[]): Map<string, LaneId[]> {
  let lane = 0
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      Array.from({ length: partitions }, (_, partition) => ({
        lane: lane++,
        topic: name,
        partition,
      })),
    ]),
  )
}

async function makeTopics(options: KafkaLogOptions): Promise<void> {
  const { brokers, clientId, topics, security = onLoopbackOnly } = options
  const { ssl, sasl } = await readProtection(security)
  const sockets = createSockets(security)
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    socketFactory: sockets.open,
    ...(ssl && { ssl }),
    ...(sasl && { sasl: sasl as SASLOptions }),
    logLevel: logLevel.NOTHING,
    retry: { retries: 3, initialRetryTime: 200, maxRetryTime: 1000 },
  })
  try {
    await inTime(createMissing(kafka.admin(), topics), topicsWithinMs)
  } catch (cause) {
    const why = cause instanceof Error ? `: ${cause.message}` : ''
    throw new LogUnavailable(`Kafka at ${brokers.join(', ')} does not respond${why}`, { cause })
  } finally {
    // Not `disconnect`, which waits for requests in flight.
    sockets.breakOff()
  }
}

async function createMissing(admin: Admin, topics: readonly Topic[]): Promise<void> {
  await admin.connect()
  await admin.createTopics({
    // kafkajs throws while waiting for leaders although the topics exist; `untilLed` waits instead.
    waitForLeaders: false,
    topics: topics.map(({ name, partitions, retentionDays, maxBytes }) => ({
      topic: name,
      numPartitions: partitions,
      configEntries: [
        { name: 'cleanup.policy', value: 'delete' },
        { name: 'retention.ms', value: String(retentionDays ? retentionDays * dayMs : -1) },
        // Offsets in Kafka are per partition.
        {
          name: 'retention.bytes',
          value: String(maxBytes ? Math.ceil(maxBytes / partitions) : -1),
        },
        { name: 'max.message.bytes', value: String(largestBatchBytes) },
      ],
    })),
  })
}

/** Waits until every partition has a leader; throws if the number of partitions differs. */
async function untilLed(link: Link, topics: readonly Topic[]): Promise<void> {
  const deadline = Date.now() + topicsWithinMs
  for (;;) {
    const counts = await ledPartitions(link, topics)
    for (const [index, { name, partitions }] of topics.entries())
      if ((counts[index] ?? 0) > partitions)
        throw new Error(
          `Topic ${name} has ${counts[index]} partitions and this program needs ${partitions}; the number cannot change, or the records of one key would lose their order.`,
        )
    if (topics.every(({ partitions }, index) => counts[index] === partitions)) return
    if (Date.now() > deadline) {
      const missing = topics.filter(({ partitions }, index) => counts[index] !== partitions)
      throw new LogUnavailable(
        `Kafka has no leader for every partition of ${missing.map(({ name }) => name).join(', ')}`,
      )
    }
    link.reset()
    await new Promise(resolve => setTimeout(resolve, retryMs))
  }
}

/**
 * Number of partitions with a leader, per topic; empty while a newly elected leader does not know its role and
 * refuses.
 */
async function ledPartitions(link: Link, topics: readonly Topic[]): Promise<number[]> {
  try {
    const cluster = await inTime(link.cluster(topics.map(({ name }) => name)))
    const led = topics.map(({ name }) => ({
      topic: name,
      partitions: cluster
        .findTopicPartitionMetadata(name)
        .filter(({ leader }) => leader >= 0)
        .map(({ partitionId }) => ({ partition: partitionId })),
    }))
    await inTime(cluster.fetchTopicsOffset(led.map(one => ({ ...one, fromBeginning: false }))))
    return led.map(({ partitions }) => partitions.length)
  } catch {
    return []
  }
}

async function offsets(
  link: Link,
  lanes: readonly LaneId[],
  fromBeginning: boolean,
): Promise<bigint[]> {
  const topic = lanes[0]?.topic ?? ''
  try {
    const [answer] = await inTime(
      link
        .cluster([topic])
        .then(cluster =>
          cluster.fetchTopicsOffset([
            { topic, partitions: lanes.map(({ partition }) => ({ partition })), fromBeginning },
          ]),
        ),
    )
    return lanes.map(({ partition }) => {
      const found = answer?.partitions.find(item => item.partition === partition)
      if (!found) throw new Error(`the broker did not respond for ${topic}/${partition}`)
      return BigInt(found.offset)
    })
  } catch (cause) {
    link.reset()
    throw new LogUnavailable('Kafka does not respond', { cause })
  }
}
