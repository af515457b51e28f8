import test from 'ava'
import { Kafka, logLevel } from 'kafkajs'
import { RecordTooLarge } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { until } from '../../servers/until.ts'
import { record, take, topicsOfTest } from './contract.ts'

/** Kafka's number for topic settings, which kafkajs exports only to `require`. */
const ofTopics = 2

test('a record that is too large for its topic is refused by name, records of other topics in the same batch are stored', async t => {
  const brokers = [await addressOf('kafka')]
  const { facts, single } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [facts, single] })
  t.teardown(log.close)
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  t.teardown(() => admin.disconnect())
  const takeAtMost = (bytes: number) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: ofTopics,
          name: single.name,
          configEntries: [{ name: 'max.message.bytes', value: String(bytes) }],
        },
      ],
    })
  const large = record('k', 'x'.repeat(200_000))
  // A broker applies a setting some time after confirming it.
  let stored = 0n
  const isTaken = () =>
    log.append(single.name, [large]).then(
      () => {
        stored++
        return true
      },
      error => {
        if (error instanceof RecordTooLarge) return false
        throw error
      },
    )
  await takeAtMost(100_000)
  await until('the limit holds', 20_000, async () => !(await isTaken()))
  const before = stored
  for (let round = 0; round < 3; round++) {
    const [refused, ...others] = await Promise.allSettled([
      log.append(single.name, [large]),
      log.append(facts.name, [record('a', 'fact')]),
      log.append(facts.name, [record('b', 'fact')]),
    ])
    t.is(refused?.status, 'rejected')
    if (refused?.status !== 'rejected') return
    t.true(refused.reason instanceof RecordTooLarge)
    t.regex(
      refused.reason.message,
      /does not accept 200000 bytes at once; raise its max\.message\.bytes/,
    )
    t.regex(refused.reason.message, new RegExp(`--entity-name ${single.name} `))
    t.deepEqual(
      others.map(({ status }) => status),
      ['fulfilled', 'fulfilled'],
    )
    t.is((await log.append(single.name, [record('k', 'small')]))[0]?.offset, before + BigInt(round))
  }
  await takeAtMost(1_000_000)
  await until('the new limit holds', 20_000, isTaken)
  t.is((await take(log, single.name, 0, before + 3n, 1))[0]?.value.length, 200_000)
})
