import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import { LogUnreadable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import type { Topic } from '../../../platform/log/topic.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { record, take, topicsOfTest } from './contract.ts'
import { ownBroker } from './own-broker.ts'

/** Long and short, similar and dissimilar to the previous ones. */
const texts = Array.from({ length: 400 }, (_, n) => `${n} ${'loss accuracy '.repeat(n % 40)}`)

/** Creates a topic whose batches the broker, with the libraries of Kafka itself, packs by this codec. */
async function createPacked(brokers: string[], { name, partitions }: Topic, codec: string) {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const configEntries = [{ name: 'compression.type', value: codec }]
  await admin.createTopics({
    waitForLeaders: false,
    topics: [{ topic: name, numPartitions: partitions, configEntries }],
  })
  await admin.disconnect()
}

for (const codec of ['gzip', 'snappy', 'lz4', 'zstd'])
  test(`records that were packed by ${codec} are read`, async t => {
    const brokers = [await addressOf('kafka')]
    const { single } = topicsOfTest()
    await createPacked(brokers, single, codec)
    const log = await openKafkaLog({ brokers, clientId: 'test', topics: [single] })
    t.teardown(log.close)
    await log.append(
      single.name,
      texts.map(text => record('k', text)),
    )
    const read = await take(log, single.name, 0, 0n, texts.length)
    t.deepEqual(
      read.map(({ value }) => value.toString()),
      texts,
    )
  })

test('a batch that is damaged on the disk is named, after all records before it', async t => {
  t.timeout(patient(400_000))
  const own = await ownBroker(t)
  const { single } = topicsOfTest()
  const options = { brokers: [own.address], clientId: 'test', topics: [single] }
  const log = await openKafkaLog(options)
  for (let n = 0; n < 3; n++)
    await log.append(single.name, [record('key', `text ${n} `.repeat(99))])
  await log.close()
  await own.stop()
  await damage(join(own.data, `${single.name}-0`), 'text 1')
  await own.restart()

  const again = await openKafkaLog(options)
  t.teardown(again.close)
  t.is((await take(again, single.name, 0, 0n, 1)).length, 1)
  const error = await t.throwsAsync(take(again, single.name, 0, 0n, 3), {
    instanceOf: LogUnreadable,
    message: /^Partition 0 of test-\w+\.single cannot be read from offset 1 on: its ZSTD data/,
  })
  t.true(error?.cause instanceof Error)
  t.is((await take(again, single.name, 0, 2n, 1))[0]?.offset, 2n)
})

test('a transaction marker is named in the error, and no reader waits behind it forever', async t => {
  const brokers = [await addressOf('kafka')]
  const { single } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [single] })
  t.teardown(log.close)
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  const producer = kafka.producer({ transactionalId: single.name, maxInFlightRequests: 1 })
  await producer.connect()
  const transaction = await producer.transaction()
  await transaction.send({ topic: single.name, messages: [{ key: 'k', value: 'foreign' }] })
  await transaction.commit()
  await producer.disconnect()

  t.is((await take(log, single.name, 0, 0n, 1))[0]?.value.toString(), 'foreign')
  await t.throwsAsync(take(log, single.name, 0, 1n, 1), {
    instanceOf: LogUnreadable,
    message: /offset 1 on: it holds a transaction marker/,
  })
})

/** Changes the batch of the record with this text, so that it claims to be packed by zstd. */
async function damage(folder: string, text: string) {
  const [segment = ''] = (await readdir(folder)).filter(file => file.endsWith('.log'))
  const file = await open(join(folder, segment), 'r+')
  const at = (await file.readFile()).indexOf(text)
  // Before the text: eleven bytes of its record, and the batch's header from byte 38, its attributes, on.
  await file.write(Buffer.from([0, 4]), 0, 2, at - 11 - 61 + 21)
  await file.close()
}
