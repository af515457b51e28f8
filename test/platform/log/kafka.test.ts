import test from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { record, take, testContract, topicsOfTest } from './contract.ts'

testContract(test, async () => {
  const brokers = [await addressOf('kafka')]
  return topics => openKafkaLog({ brokers, clientId: 'test', topics })
})

test('a reader behind deleted records continues with the first existing one', async t => {
  const brokers = [await addressOf('kafka')]
  const { single } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [single] })
  t.teardown(log.close)
  for (let n = 0; n < 5; n++) await log.append(single.name, [record('k', String(n))])
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  // Deleting records requires that the client knows the topic.
  await admin.fetchTopicMetadata({ topics: [single.name] })
  await admin.deleteTopicRecords({
    topic: single.name,
    partitions: [{ partition: 0, offset: '3' }],
  })
  await admin.disconnect()
  t.deepEqual(await log.start(single.name), [3n])
  const read = await take(log, single.name, 0, 1n, 2)
  t.deepEqual(
    read.map(({ value }) => value.toString()),
    ['3', '4'],
  )
})

test('a log whose topics have just been created can be queried at once', async t => {
  const brokers = [await addressOf('kafka')]
  for (let n = 0; n < 10; n++) {
    const { single, facts } = topicsOfTest()
    const log = await openKafkaLog({ brokers, clientId: 'test', topics: [single, facts] })
    // A newly elected leader refuses until it knows of its election.
    const starts = await Promise.all([log.start(single.name), log.start(facts.name)])
    t.deepEqual(starts.flat(), Array(1 + facts.partitions).fill(0n))
    await log.close()
  }
})

test('a topic whose number of partitions has changed is refused', async t => {
  const brokers = [await addressOf('kafka')]
  const { facts } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [facts] })
  await log.close()
  const fewer = [{ ...facts, partitions: 2 }]
  await t.throwsAsync(openKafkaLog({ brokers, clientId: 'test', topics: fewer }), {
    message: /has 3 partitions and this program needs 2/,
  })
})

test('an unreachable cluster is named in the error', async t => {
  const { single } = topicsOfTest()
  const opening = openKafkaLog({ brokers: ['127.0.0.1:1'], clientId: 'test', topics: [single] })
  await t.throwsAsync(opening, { instanceOf: LogUnavailable, message: /127\.0\.0\.1:1/ })
})
