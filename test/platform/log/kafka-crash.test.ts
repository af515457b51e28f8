import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { LogUnavailable } from '../../../platform/log/event-log.ts'
import { openKafkaLog } from '../../../platform/log/kafka.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { until, untilSettled } from '../../servers/until.ts'
import { record, take, topicsOfTest } from './contract.ts'
import { appendAndKillOne, checkLog, startAppending } from './ledger.ts'
import { ownBroker } from './own-broker.ts'

test('two processes append to the same partitions and one is killed: nothing lost, nothing twice', async t => {
  const brokers = [await addressOf('kafka')]
  const { facts } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [facts] })
  t.teardown(log.close)
  const processes = await appendAndKillOne(t, { topic: facts, at: { brokers } })
  await checkLog(t, log, facts.name, processes)
})

test('the broker is killed: acknowledged records are present when it is back, and a reader continues', async t => {
  t.timeout(patient(400_000))
  const own = await ownBroker(t)
  const brokers = [own.address]
  const { facts, single } = topicsOfTest()
  const log = await openKafkaLog({ brokers, clientId: 'test', topics: [facts, single] })
  t.teardown(log.close)
  const appending = startAppending(t, { name: 'one', topic: facts, at: { brokers } })
  for (let kill = 0; kill < 2; kill++) {
    await appending.ackedMore(300, 30_000)
    await own.kill()
    const waiting = take(log, single.name, 0, BigInt(kill), 1)
    const refusal = log.append(single.name, [record('k', 'away')]).then(
      () => null,
      error => error,
    )
    if (kill === 0) {
      // An append is abandoned after nine seconds.
      const given = await untilSettled('the append is given up', 30_000, refusal)
      t.true(given instanceof LogUnavailable)
    }
    await own.restart()
    await Promise.all([appending.ackedMore(1, 10_000), refusal])
    // For the reader, because a slow start of the broker also outlasts the append of the second round.
    await log.append(single.name, [record('k', 'back')])
    const [next] = await untilSettled('the reader continues', 10_000, waiting)
    t.is(next?.offset, BigInt(kill))
  }
  await appending.finish()
  await checkLog(t, log, facts.name, [appending])
})

test('when a response is lost, no later append is acknowledged in its place', async t => {
  t.timeout(patient(400_000))
  const gate = await answersThrough(t)
  const { single } = topicsOfTest()
  const log = await openKafkaLog({ brokers: [gate.address], clientId: 'test', topics: [single] })
  t.teardown(log.close)
  await log.append(single.name, [record('k', 'first')])
  gate.loseAnswers(true)
  await t.throwsAsync(log.append(single.name, [record('k', 'unknown')]), {
    instanceOf: LogUnavailable,
  })
  gate.loseAnswers(false)
  const [after] = await log.append(single.name, [record('k', 'after')])
  const stored = await take(log, single.name, 0, 0n, 3)
  t.deepEqual(
    stored.map(({ value }) => value.toString()),
    ['first', 'unknown', 'after'],
  )
  t.is(after?.offset, 2n)
})

test('a response lost once is harmless: the append is retried and stored once', async t => {
  const gate = await answersThrough(t)
  const { single } = topicsOfTest()
  const log = await openKafkaLog({ brokers: [gate.address], clientId: 'test', topics: [single] })
  t.teardown(log.close)
  await log.append(single.name, [record('k', '0')])
  for (let n = 1; n <= 5; n++) {
    gate.loseAnswers(true)
    const appended = log.append(single.name, [record('k', String(n))])
    await gate.lostOne()
    gate.loseAnswers(false)
    t.is((await appended)[0]?.offset, BigInt(n))
  }
  t.deepEqual(await log.end(single.name), [6n])
})

/** A broker behind a gate that can pass requests on and lose the responses. */
async function answersThrough(t: ExecutionContext) {
  let isLosing = false
  let lost = 0
  let brokerPort = 0
  const sockets = new Set<Socket>()
  const gate = createServer(client => {
    const broker = connect(brokerPort, '127.0.0.1')
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => other.destroy())
    }
    client.pipe(broker)
    broker.on('data', answer => {
      if (!isLosing) return client.write(answer)
      lost++
      return client.destroy()
    })
  })
  gate.listen(0, '127.0.0.1')
  await once(gate, 'listening')
  const address = gate.address()
  const port = address && typeof address === 'object' ? address.port : 0
  const own = await ownBroker(t, { advertisedPort: port })
  brokerPort = Number(own.address.split(':')[1])
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    gate.close()
  })
  return {
    address: `127.0.0.1:${port}`,
    loseAnswers(losing: boolean) {
      isLosing = losing
    },
    async lostOne() {
      const before = lost
      await until('a response is lost', 10_000, () => lost > before)
    },
  }
}
