import { gzipSync, zstdCompressSync } from 'node:zlib'
import test from 'ava'
import { goodBody, startEcho } from './echo.ts'

const p = { key: 'a', step: 1, value: 1 }
const refusals: [why: string, body: string, loc: unknown[], type: string][] = [
  ['a missing field', '{}', ['body', 'points'], 'missing'],
  [
    'a text for a number',
    JSON.stringify({ points: [{ ...p, step: 'x' }] }),
    ['body', 'points', 0, 'step'],
    'int_type',
  ],
  [
    'a fraction for an integer',
    JSON.stringify({ points: [{ ...p, step: 1.5 }] }),
    ['body', 'points', 0, 'step'],
    'int_type',
  ],
  [
    'a text for a float',
    JSON.stringify({ points: [{ ...p, value: 'x' }] }),
    ['body', 'points', 0, 'value'],
    'float_type',
  ],
  [
    'a number for a text',
    JSON.stringify({ points: [{ ...p, key: 1 }] }),
    ['body', 'points', 0, 'key'],
    'string_type',
  ],
  [
    'a short text',
    JSON.stringify({ points: [{ ...p, key: '' }] }),
    ['body', 'points', 0, 'key'],
    'string_too_short',
  ],
  [
    'a long text',
    JSON.stringify({ points: [{ ...p, key: 'abcdef' }] }),
    ['body', 'points', 0, 'key'],
    'string_too_long',
  ],
  [
    'a text off its pattern',
    JSON.stringify({ points: [{ ...p, key: 'A' }] }),
    ['body', 'points', 0, 'key'],
    'string_pattern_mismatch',
  ],
  [
    'a small number',
    JSON.stringify({ points: [{ ...p, step: -1 }] }),
    ['body', 'points', 0, 'step'],
    'greater_than_equal',
  ],
  [
    'a large number',
    JSON.stringify({ points: [{ ...p, step: 11 }] }),
    ['body', 'points', 0, 'step'],
    'less_than_equal',
  ],
  [
    'a timestamp without offset',
    JSON.stringify({ points: [{ ...p, ts: '2026-11-20T19:26:53' }] }),
    ['body', 'points', 0, 'ts'],
    'datetime_parsing',
  ],
  [
    'a timestamp that does not exist',
    JSON.stringify({ points: [{ ...p, ts: '2026-13-20T19:26:53Z' }] }),
    ['body', 'points', 0, 'ts'],
    'datetime_parsing',
  ],
  ['a list that is none', JSON.stringify({ points: {} }), ['body', 'points'], 'list_type'],
  ['an object that is none', JSON.stringify({ points: [3] }), ['body', 'points', 0], 'dict_type'],
  ['an empty list', JSON.stringify({ points: [] }), ['body', 'points'], 'too_short'],
  ['a long list', JSON.stringify({ points: [p, p, p, p] }), ['body', 'points'], 'too_long'],
  ['an unknown key', JSON.stringify({ points: [p], huh: 1 }), ['body', 'huh'], 'extra_forbidden'],
  [
    'a word not on the list',
    JSON.stringify({ points: [p], mode: 'x' }),
    ['body', 'mode'],
    'literal_error',
  ],
  [
    'a text for a boolean',
    JSON.stringify({ points: [p], flag: 'true' }),
    ['body', 'flag'],
    'bool_type',
  ],
  [
    'a number for a text or null',
    JSON.stringify({ points: [p], note: 3 }),
    ['body', 'note'],
    'string_type',
  ],
  [
    'an escaped U+0000',
    `{"points":[${JSON.stringify(p)}],"note":"a\\u0000b"}`,
    ['body', 'note'],
    'value_error',
  ],
  [
    'a lone surrogate',
    `{"points":[${JSON.stringify(p)}],"note":"\\ud800"}`,
    ['body', 'note'],
    'value_error',
  ],
  [
    'a __proto__ key',
    `{"points":[${JSON.stringify(p)}],"extra":{"__proto__":{}}}`,
    ['body', 'extra', '__proto__'],
    'value_error',
  ],
]

for (const [why, body, loc, type] of refusals)
  test(`422 for ${why}`, async t => {
    const { post } = await startEcho(t)
    const answer = await post(body)
    t.is(answer.status, 422)
    t.like(answer.body.detail[0], { loc, type })
    t.is(typeof answer.body.detail[0].msg, 'string')
  })

test('every rejected field has its entry', async t => {
  const { post } = await startEcho(t)
  const { body } = await post(
    JSON.stringify({ points: [{ key: 1, step: 'x' }], mode: 'x', huh: 1 }),
  )
  t.deepEqual(body.detail.map((error: { loc: unknown[] }) => error.loc.join('.')).sort(), [
    'body.huh',
    'body.mode',
    'body.points.0.key',
    'body.points.0.step',
    'body.points.0.value',
  ])
})

test('a bare NaN is json_invalid with a hint', async t => {
  const { post } = await startEcho(t)
  const { status, body } = await post('{"points":[{"key":"a","step":1,"value":NaN}]}')
  t.is(status, 422)
  t.is(body.detail[0].type, 'json_invalid')
  t.regex(body.detail[0].ctx.hint, /"NaN"/)
})

test('malformed and empty bodies are json_invalid', async t => {
  const { post } = await startEcho(t)
  for (const text of ['{"points":', '', 'nonsense', '{"a":1}}']) {
    const { status, body } = await post(text)
    t.is(status, 422, text)
    t.is(body.detail[0].type, 'json_invalid')
  }
})

test('nesting deeper than 32 is refused and does not overflow', async t => {
  const { post } = await startEcho(t)
  const { status } = await post(
    `{"points":[${JSON.stringify(p)}],"extra":${'['.repeat(1500)}${']'.repeat(1500)}}`,
  )
  t.is(status, 422)
})

test('a secret is never echoed', async t => {
  const { post } = await startEcho(t)
  const { status, body } = await post(JSON.stringify({ points: [p], password: 'hunter22' }))
  t.is(status, 422)
  t.false(JSON.stringify(body).includes('hunter22'))
})

test('a secret inside a body of another shape is not echoed either', async t => {
  const { post } = await startEcho(t)
  for (const wrong of [[{ password: 'hunter22' }], { points: { old_token: 'hunter22' } }]) {
    const { status, body } = await post(JSON.stringify(wrong))
    t.is(status, 422)
    t.false(JSON.stringify(body).includes('hunter22'))
  }
})

test('a body past the limit is 413, compressed or not', async t => {
  const { post } = await startEcho(t)
  const long = JSON.stringify({ points: [p], note: 'x'.repeat(5000) })
  for (const [body, encoding] of [
    [long, ''],
    [gzipSync(long), 'gzip'],
    [zstdCompressSync(Buffer.from(long)), 'zstd'],
  ] as const) {
    const answer = await post(body, encoding ? { 'content-encoding': encoding } : {})
    t.is(answer.status, 413, encoding)
    t.regex(answer.body.detail, /4096/)
  }
})

test('gzip and zstd bodies are taken', async t => {
  const { post } = await startEcho(t)
  t.is((await post(gzipSync(goodBody), { 'content-encoding': 'gzip' })).status, 200)
  t.is(
    (await post(zstdCompressSync(Buffer.from(goodBody)), { 'content-encoding': 'zstd' })).status,
    200,
  )
})

test('a broken compressed body is 400, an unknown encoding or content type 415', async t => {
  const { post } = await startEcho(t)
  t.is((await post('not gzip', { 'content-encoding': 'gzip' })).status, 400)
  t.is((await post('not zstd', { 'content-encoding': 'zstd' })).status, 400)
  t.is((await post(goodBody, { 'content-encoding': 'lzma' })).status, 415)
  t.is((await post(goodBody, { 'content-type': 'text/plain' })).status, 415)
})
