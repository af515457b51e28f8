import test from 'ava'
import { recordMetrics } from '../../command-api/metrics/record.ts'
import { encodeFact } from '../../events/fact.ts'
import { encodeLogs, type LogsAppended } from '../../events/logs.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { encodedFact } from '../encoded-fact.ts'
import type { Reply } from '../servers/api.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Place = { topic: string; offset: number; key: string }
type Line = { text: string }
type Rebuild = { rebuild: { state: string } }

const path = '/api/admin/dead-letters'
const replay = (forge: Forge, id: string) => forge.call('POST', `${path}/${id}/replay`)

const envelope = (run_id: string) => ({
  event_id: '0199e2c4-5b7a-7c11-8c2e-3f1a5b6c7d8e',
  received_at_ms: 1_790_000_000_000,
  run_id,
  attempt: null,
  actor: { type: 'run', id: run_id, via: 'ingest_token' } as const,
  request_id: 'req-parked',
})

/** In the state left by an earlier version that could not apply it. */
async function park({ pool }: Forge, { topic, offset, key }: Place, value: Buffer) {
  await pool.query(
    `insert into read.dead_letter (topic, partition, "offset", key, error, value)
     values ($1, 0, $2, $3, 'a defect of before', $4)`,
    [topic, offset, key, value],
  )
  return `${topic}:0:${offset}`
}

const parkLines = (forge: Forge, key: string, offset: number, data: LogsAppended) => {
  const fact = { ...envelope(key), type: 'logs.appended', body: encodeLogs(data) } as const
  return park(forge, { topic: 'forge.logs', offset, key }, encodeFact(fact))
}

const parkPoint = (forge: Forge, key: string, offset: number) => {
  const points = [{ key: 'loss', step: offset, value: offset }]
  const { fact } = recordMetrics({ run_id: key, points }, 1_790_000_000_000)
  return park(forge, { topic: 'forge.metrics', offset, key }, encodedFact(fact))
}

const logTextsOf = async (forge: Forge, run_id: string) => {
  const { body } = await forge.call<Line[]>('GET', `/api/runs/${run_id}/logs?after=0`)
  return body.map(({ text }) => text)
}

test('lines of a parked record appear after its replay, although later lines of their source have arrived', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const place = { node: null, rank: null, stream: 'stdout' }
  await ingest(forge, run, 'logs', { chunks: ['after'], seq: 2, producer: 'p' })
  await until(
    'the line shows',
    30_000,
    async () => (await logTextsOf(forge, run.run_id)).length === 1,
  )
  const reported = { ...place, origin: 'report', producer: 'p', seq: 1 } as const
  const lost = await parkLines(forge, run.run_id, 1, { ...reported, chunks: ['lost', 'and found'] })
  t.is((await replay(forge, lost)).status, 200)
  t.deepEqual(await logTextsOf(forge, run.run_id), ['after', 'lost', 'and found'])

  const printed = (offset: number, text: string): LogsAppended => ({
    ...place,
    origin: 'output',
    offset,
    bytes: Buffer.from(text),
  })
  for (const [offset, text] of [
    [20, 'printed later\n'],
    [0, 'printed first\nand cut'],
  ] as const)
    t.is(
      (await replay(forge, await parkLines(forge, run.run_id, offset, printed(offset, text))))
        .status,
      200,
    )
  const all = ['after', 'lost', 'and found', 'printed later', 'printed first', 'and cut']
  t.deepEqual(await logTextsOf(forge, run.run_id), all)
})

test('during a rebuild a record is neither replayed nor dropped; both are possible afterwards', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const letter = await parkPoint(forge, run.run_id, 7)
  const tries = [
    ['POST', `${path}/${letter}/replay`],
    ['DELETE', `${path}/${letter}`],
    ['POST', `${path}/${letter}9/replay`],
    ['DELETE', `${path}/${letter}9`],
  ] as const
  const replies = await inTransaction(forge.pool, async compacting => {
    await mayStayIdle(compacting)
    await compacting.query('lock table read.generation in row share mode')
    const begun = await forge.call('POST', '/api/admin/projections/all/rebuild')
    if (begun.status === 200)
      await untilLockWaits(
        forge.pool,
        'the rebuild waits to flip',
        lock => lock.relation === 'read.generation',
      )
    const told: Reply<{ code: string; detail: string }>[] = []
    for (const [method, of] of tries) told.push(await forge.call(method, of))
    return [begun, ...told]
  })
  t.deepEqual(
    replies.map(({ status, body }) => [status, body.code ?? null]),
    [
      [200, null],
      [409, 'dead_letter.rebuild_running'],
      [409, 'dead_letter.rebuild_running'],
      [404, 'not_found'],
      [404, 'not_found'],
    ],
  )
  t.regex(String(replies[1]?.body.detail), /try this after it has ended/)
  await until('the rebuild is over', 60_000, async () => {
    const { body } = await forge.call<Rebuild>('GET', '/api/admin/projections')
    return body.rebuild.state === 'succeeded'
  })
  t.is((await replay(forge, await parkPoint(forge, run.run_id, 8))).status, 200)
  const dropped = await parkPoint(forge, run.run_id, 9)
  t.is((await forge.call('DELETE', `${path}/${dropped}`)).status, 200)
})

test('an open stream shows a replayed report, which moves no checkpoint', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const stream = await fetch(`${forge.url}/api/runs/${run.run_id}/metrics/stream`, {
    headers: { authorization: `Bearer ${forge.token}` },
    signal: ending.signal,
  })
  let text = ''
  const reading = (async () => {
    for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => {})
  // The first may be found by the check for lost wake-ups that follows the opening.
  for (const offset of [11, 12, 13]) {
    t.is((await replay(forge, await parkPoint(forge, run.run_id, offset))).status, 200)
    await until(`point ${offset} is streamed`, 20_000, () => text.includes(`"step":${offset},`))
  }
  ending.abort()
  await reading
})
