import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { type Random, randomFrom } from '../whole/chaos/random.ts'
import { storeWith } from './duty-store.ts'
import { dutyRunners, logIns } from './login-duties.ts'
import { dutiesPerEvent, receivingReactors } from './receiving-reactors.ts'

/** Counts each effect once: repeats of a key are dropped. `received` is called for every request. */
async function receiver(t: ExecutionContext, received: (requests: number) => void = () => {}) {
  const effects = new Map<string, string>()
  const requests = new Map<string, number>()
  let count = 0
  const server = createServer(async (request, response) => {
    const key = String(request.headers['idempotency-key'])
    let body = ''
    for await (const chunk of request) body += chunk
    requests.set(key, (requests.get(key) ?? 0) + 1)
    if (!effects.has(key)) effects.set(key, body)
    received(++count)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    requests,
  }
}

function worker(t: ExecutionContext, args: readonly string[]): ChildProcess {
  const script = join(import.meta.dirname, 'duty-worker.ts')
  const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'forge-duty-worker') }
  const child = spawn(process.execPath, [script, ...args], { stdio: 'inherit', env })
  t.teardown(() => child.kill('SIGKILL'))
  return child
}

for (const [when, requests] of [
  ['before', 1],
  ['after', 2],
] as const)
  test(`a process killed ${when} the effect: another process completes it, and the receiver sees it once`, async t => {
    const { pool, url, rows } = await dutyRunners(t)
    const target = await receiver(t)
    const [, , reactor] = receivingReactors(target.url)
    if (!reactor) throw new Error('there is no such reactor')
    await logIns(storeWith(pool, [reactor]), ['s1'])
    const first = worker(t, [url, target.url, when])
    const [, signal] = await once(first, 'exit')
    t.is(signal, 'SIGKILL')
    t.like(await rows(), [{ done_at: null }])
    worker(t, [url, target.url])
    await until('it is done', 30_000, async () => (await rows())[0]?.done_at)
    t.deepEqual([...target.effects.values()], ['once/s1/0'])
    // On a busy machine a request may time out, and is then sent once more.
    t.true([...target.requests.values()].every(times => times >= requests))
    t.true((await rows()).every(({ attempts }) => attempts >= 2))
  })

const events = 250
const kills = 50

/** Numbers of requests at which a process is killed, spread over all the work. */
function killPoints(random: Random): number[] {
  const share = Math.floor((events * dutiesPerEvent) / kills)
  return Array.from({ length: kills }, (_, index) => index * share + random.whole(1, share))
}

test('1,000 duties of 3 reactors under 50 kills at random points: each effect once, none lost', async t => {
  t.timeout(patient(400_000))
  const seed = Number(process.env.FORGE_TEST_SEED ?? Date.now() % 1_000_000)
  t.log(`seed ${seed} (FORGE_TEST_SEED repeats it)`)
  const random = randomFrom(seed)
  const { pool, url, rows } = await dutyRunners(t)
  const points = killPoints(random)
  const workers = new Set<ChildProcess>()
  let killed = 0
  const target = await receiver(t, requests => {
    while (requests >= (points[0] ?? Number.POSITIVE_INFINITY)) {
      points.shift()
      setTimeout(
        () => {
          const child = random.pick([...workers])
          workers.delete(child)
          child.kill('SIGKILL')
          killed++
          start()
        },
        random.whole(0, 15),
      )
    }
  })
  const start = () => workers.add(worker(t, [url, target.url]))
  const sids = Array.from({ length: events }, (_, index) => `s${index}`)
  await logIns(storeWith(pool, receivingReactors(target.url)), sids)
  const expected = await rows()
  t.is(expected.length, events * dutiesPerEvent)
  for (let started = 0; started < 3; started++) start()
  await until('all duties are done', 170_000, async () => {
    const { rows: left } = await pool.query(
      'select 1 from write.duty where done_at is null limit 1',
    )
    return left.length === 0
  })
  t.is(killed, kills)
  t.deepEqual([...target.effects.keys()].sort(), expected.map(row => row.duty_id).sort())
  t.is(new Set(target.effects.values()).size, events * dutiesPerEvent)
  const { rows: outcomes } = await pool.query(
    `select outcome.data ->> 'sid' as sid, count(*)::int as times,
            bool_and(cause.data ->> 'sid' = outcome.data ->> 'sid') as is_caused
       from write.event outcome
       join write.event cause on cause.event_id = (outcome.meta ->> 'causation_id')::uuid
      where outcome.type = 'user.logout' group by 1`,
  )
  t.is(outcomes.length, events)
  t.true(outcomes.every(({ times, is_caused }) => times === 1 && is_caused))
  const repeats = [...target.requests.values()].filter(times => times > 1).length
  t.log(`${killed} kills; ${repeats} of ${events * dutiesPerEvent} duties were sent again`)
})
