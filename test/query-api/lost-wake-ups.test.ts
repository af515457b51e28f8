import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import Koa from 'koa'
import { pino } from 'pino'
import type { Person } from '../../auth/caller.ts'
import { inProcessSignals } from '../../platform/signals.ts'
import type { Feed } from '../../query-api/sse/feed.ts'
import { createCoverage } from '../../query-api/sse/progress.ts'
import { createStreams, frame } from '../../query-api/sse/sse.ts'
import type { WakeUps } from '../../schemas/wake-ups.ts'
import { connect, take } from '../servers/events.ts'
import { untilSettled } from '../servers/until.ts'

const person = { kind: 'person', username: 'ada', role: 'user' } as unknown as Person

/** A stream of the things that `add` stores, and projections that advance with or without a wake-up. */
async function streaming(t: ExecutionContext) {
  const signals = inProcessSignals<WakeUps>()
  const stored: string[] = []
  const reached = new Map([
    ['metrics', 10],
    ['logs', 10],
  ])
  const streams = createStreams({
    signals,
    authenticate: async () => person,
    logger: pino({ level: 'silent' }),
    progress: async () => new Map(reached),
  })
  const feed: Feed = {
    key: 'stored',
    wakes: { projections: ['metrics'], key: 'run_quiet' },
    async read(after) {
      const frames = stored.slice(after).map((text, n) => frame('row', after + n + 1, { text }))
      return {
        frames: frames.length === 0 ? null : Buffer.from(frames.join('')),
        last: stored.length,
        more: false,
        end: null,
      }
    },
  }
  const app = new Koa().use(ctx =>
    streams.open(ctx, person, {
      feeds: [feed],
      from: { at: [0], ended: false },
      check: async () => {},
    }),
  )
  const server = createServer(app.callback()).listen(0)
  t.teardown(async () => {
    await streams.close()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const stream = await connect(`http://127.0.0.1:${port}/`, '')
  t.teardown(stream.cut)
  const advance = (projection: string) => {
    const after = reached.get(projection) ?? 0
    reached.set(projection, after + 1)
    return { projection, after, upTo: after + 1 }
  }
  return { signals, stored, stream, advance }
}

for (const busy of ['metrics', 'logs'])
  test(`a lost wake-up delays a stream while others of ${busy} keep arriving, but does not stall it`, async t => {
    const { signals, stored, stream, advance } = await streaming(t)
    stored.push('first')
    t.is((await stream.next())?.data.text, 'first')
    const noise = setInterval(
      () => signals.publish('projected', { ...advance(busy), keys: ['run_busy'] }),
      50,
    )
    t.teardown(() => clearInterval(noise))
    // Stored and committed, but without a notification.
    stored.push('second')
    advance('metrics')
    const [second] = await untilSettled('the second arrives', 20_000, take(stream, 1))
    t.is(second?.data.text, 'second')
  })

test('wake-ups that follow each other cover the progress of their own projection', t => {
  const coverage = createCoverage()
  const all = (metrics: number, logs: number) =>
    coverage.missed(
      new Map([
        ['metrics', metrics],
        ['logs', logs],
      ]),
    )
  t.deepEqual([...all(10, 5)], ['metrics', 'logs'], 'nothing was heard before')
  coverage.hear({ projection: 'metrics', keys: [], after: 10, upTo: 12 })
  coverage.hear({ projection: 'metrics', keys: [], after: 12, upTo: 13 })
  t.deepEqual([...all(13, 5)], [])
  coverage.hear({ projection: 'metrics', keys: [], after: 14, upTo: 15 })
  t.deepEqual([...all(15, 5)], ['metrics'], 'the one from 13 to 14 was lost')
  t.deepEqual([...all(15, 6)], ['logs'])
  coverage.hear({ projection: 'metrics', keys: [], after: 15, upTo: 15 })
  t.deepEqual([...all(16, 6)], ['metrics'], 'a cut one covers nothing')
  coverage.hear({ projection: 'metrics', keys: [], after: 12, upTo: 13 })
  t.deepEqual([...all(16, 6)], [], 'an old one changes nothing')
})
