import test, { type ExecutionContext } from 'ava'
import { streamPosition } from '../../platform/position.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import { createWaiter } from '../../query-api/reading/wait.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'
import { countedPool } from '../servers/counted-pool.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

async function waiter(t: ExecutionContext) {
  const { pool } = await database(t, { schema: 'read' })
  const { counted, queries } = countedPool(pool)
  const signals = inProcessSignals<WakeUps>()
  // No wait may time out before the test does the thing that ends it.
  const wait = createWaiter(counted, signals, patient(20_000))
  const reach = async (stream: string) => {
    await pool.query('insert into stream_head (stream, version) values ($1, 1)', [stream])
  }
  return { wait, reach, signals, queries }
}

const never = new AbortController().signal
const first = (stream: string) => streamPosition(stream, 1)

test('reads of all people share one query for each poll, whatever they wait for', async t => {
  const { wait, reach, queries } = await waiter(t)
  const streams = Array.from({ length: 16 }, (_, index) => `rubric-${index}`)
  const people = Array.from({ length: 20 }, (_, index) => `person-${index}`)
  for (const stream of streams) await reach(stream)
  const positions = streams.map(first)
  const reached = await Promise.all(
    people.map(username => wait({ username, positions, gone: never })),
  )
  t.true(reached.every(Boolean))
  t.is(queries(), 1)
})

test('a wait ends when its write arrives, or its connection closes', async t => {
  const { wait, reach, queries } = await waiter(t)
  const arriving = wait({ username: 'ada', positions: [first('a'), first('b')], gone: never })
  await reach('a')
  await reach('b')
  t.true(await arriving)
  const connection = new AbortController()
  const leaving = wait({ username: 'ada', positions: [first('c')], gone: connection.signal })
  const before = queries()
  await until('it looks again', 2000, () => queries() > before)
  connection.abort()
  t.false(await leaving)
  const after = queries()
  t.true(await wait({ username: 'ada', positions: [first('a')], gone: never }))
  t.is(queries(), after + 1, 'nothing is queried for a caller who has left')
})

test('a person waits for 16 different writes at once; a further read does not wait, one for the same does', async t => {
  const { wait, reach, queries } = await waiter(t)
  const waitFor = (username: string, stream: string) =>
    wait({ username, positions: [first(stream)], gone: never })
  const streams = Array.from({ length: 16 }, (_, nth) => `s${nth}`)
  const all = streams.map(stream => waitFor('ada', stream))
  await until('all of them wait', 2000, () => queries() >= 2)
  t.false(await waitFor('ada', 'further'))
  const same = waitFor('ada', 's0')
  const others = waitFor('bob', 'further')
  for (const stream of [...streams, 'further']) await reach(stream)
  t.deepEqual(await Promise.all([...all, same, others]), Array(18).fill(true))
})

test('Forge-Wait-For reveals nothing about existence: only positions given to the caller are honoured', async t => {
  const forge = await startForge(t)
  const bob = await signedIn(forge, 'bob')
  const made = await forge.call('POST', '/api/runs', { body: { project: 'p' } })
  const given = made.headers.get('forge-position') ?? ''
  const ahead = (stream: string) => Buffer.from(`s:999:${stream}`).toString('base64url')
  const [, mac] = given.split('.')
  const read = async (token: string | null, path: string, position: string) => {
    const { headers } = await forge.call('GET', path, {
      token,
      headers: { 'forge-wait-for': position },
    })
    return headers.has('forge-lag')
  }
  // Until then their reads wait for their own writes.
  for (const token of [bob, forge.token])
    await until('own writes are shown', 20_000, async () => !(await read(token, '/api/runs', '')))
  for (const position of [ahead('user-admin'), `${ahead('user-admin')}.${mac}`]) {
    t.false(await read(null, '/api/version', position), 'nobody waits without signing in')
    t.false(await read(bob, '/api/runs', position))
  }
  t.is((await forge.call('GET', '/api/runs', { headers: { 'forge-wait-for': given } })).status, 200)
  const own = ahead('project-p')
  t.false(await read(forge.token, '/api/runs', own), 'not even one that was made up for oneself')
})
