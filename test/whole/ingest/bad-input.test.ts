import test from 'ava'
import { type Forge, sharedForge } from '../../servers/forge.ts'

const shared = sharedForge()

type Created = { run_id: string; token: string }
type Refused = { detail: { loc: unknown[]; type: string; ctx?: { hint?: string } }[] }

const createRun = async (forge: Forge) =>
  (await forge.call<Created>('POST', '/api/runs', { body: { project: 'demo' } })).body

const point = { key: 'loss', step: 1, value: 0.5, ts: '2026-11-20T19:26:53+00:00' }

/** One wrong field of a point. */
const ofPoint: [why: string, field: string, value: unknown, type: string][] = [
  ['text instead of a step', 'step', '1', 'int_type'],
  ['a step over 2^53', 'step', 2 ** 53, 'less_than_equal'],
  ['a fraction for a step', 'step', 0.5, 'int_type'],
  ['a value that is null', 'value', null, 'float_type'],
  ['a nested value', 'value', { a: 1 }, 'float_type'],
  ['an empty key', 'key', '', 'string_too_short'],
  ['a key of 251', 'key', 'x'.repeat(251), 'string_too_long'],
  ['a control character in a key', 'key', 'a\nb', 'string_pattern_mismatch'],
  ['U+0000 in a key', 'key', 'a\u0000b', 'value_error'],
  ['a time without offset', 'ts', '2026-11-20T19:26:53', 'datetime_parsing'],
]
const tooMany = Array.from({ length: 10_001 }, (_, step) => ({ ...point, step }))
const reportOf = (point: string) => `{"run_id":"RUN","points":[${point}]}`

const bad: (readonly [
  why: string,
  body: object | string,
  loc: readonly unknown[],
  type: string,
])[] = [
  ...ofPoint.map(
    ([why, field, value, type]) =>
      [why, { points: [{ ...point, [field]: value }] }, ['points', 0, field], type] as const,
  ),
  ['points that are not a list', { points: 'x' }, ['points'], 'list_type'],
  ['10,001 points', { points: tooMany }, ['points'], 'too_long'],
  ['no points', {}, ['points'], 'missing'],
  ['malformed JSON', '{"run_id": ', [11], 'json_invalid'],
  [
    'a bare NaN',
    '{"run_id":"x","points":[{"key":"a","step":1,"value":NaN}]}',
    [52],
    'json_invalid',
  ],
  [
    'a value past every double',
    reportOf('{"key":"a","step":1,"value":1e400}'),
    ['points', 0, 'value'],
    'float_type',
  ],
  [
    'a lone surrogate in a key',
    reportOf('{"key":"\\ud800","step":1,"value":1}'),
    ['points', 0, 'key'],
    'value_error',
  ],
]

test('bad metric reports are 422 at their field, and no part of them is stored', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  for (const [why, body, loc, type] of bad) {
    const text =
      typeof body === 'string'
        ? body.replace('RUN', run.run_id)
        : JSON.stringify({ run_id: run.run_id, ...body })
    const answer = await forge.call<Refused>('POST', '/api/ingest/metrics', {
      token: run.token,
      body: text,
    })
    t.is(answer.status, 422, why)
    t.like(answer.body.detail[0] ?? {}, { loc: ['body', ...loc], type }, why)
  }
  const good = await forge.call('POST', '/api/ingest/metrics', {
    token: run.token,
    body: { run_id: run.run_id, points: [point] },
  })
  t.deepEqual(good.body as object, { ok: true, inserted: 1 })
})

test('a repeated key and step within a report counts once, and non-finite values are accepted as texts', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const values = [1, 2, 'NaN', 'Infinity', '-Infinity']
  const answer = await forge.call('POST', '/api/ingest/metrics', {
    token: run.token,
    body: {
      run_id: run.run_id,
      points: values.map((value, step) => ({ ...point, value, step: Math.max(0, step - 1) })),
    },
  })
  t.deepEqual(answer.body as object, { ok: true, inserted: 4 })
})

test('a body of 20 MB is 413, and the server continues', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const body = `{"run_id":"${run.run_id}","points":[],"x":"${'x'.repeat(20_000_000)}"}`
  const answer = await forge
    .call('POST', '/api/ingest/metrics', { token: run.token, body })
    .catch(() => null)
  // The server may cut the connection while the client still sends.
  if (answer) t.is(answer.status, 413)
  t.is((await forge.call('GET', '/api/version', { token: null })).status, 200)
})

test("a report with someone else's token, another run's token or none is refused", async t => {
  const forge = await shared()
  const [mine, other] = [await createRun(forge), await createRun(forge)]
  const send = (run_id: string, token: string | null) =>
    forge.call('POST', '/api/ingest/metrics', { token, body: { run_id, points: [point] } })
  t.is((await send(other.run_id, mine.token)).status, 403)
  t.is((await send('run_unknown', mine.token)).status, 403)
  t.is((await send(mine.run_id, forge.token)).status, 401)
  t.is((await send(mine.run_id, null)).status, 401)
})

test('a caller may not end the log, and bad lines are 422 at their field', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const send = (body: object) =>
    forge.call<Refused>('POST', '/api/ingest/logs', {
      token: run.token,
      body: { run_id: run.run_id, ...body },
    })
  const wrong: [body: object, loc: unknown[], type: string][] = [
    [{ chunks: ['x'], eof: true }, ['body', 'eof'], 'literal_error'],
    [{ chunks: 'x' }, ['body', 'chunks'], 'list_type'],
    [{ chunks: [1] }, ['body', 'chunks', 0], 'string_type'],
    [{}, ['body', 'chunks'], 'missing'],
    [{ chunks: ['a\u0000b'] }, ['body', 'chunks', 0], 'value_error'],
  ]
  for (const [body, loc, type] of wrong) {
    const answer = await send(body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.like(answer.body.detail[0] ?? {}, { loc, type }, JSON.stringify(body))
  }
  t.is((await send({ chunks: ['fine'], eof: false })).status, 200)
})
