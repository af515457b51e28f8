import { gzipSync, zstdCompressSync } from 'node:zlib'
import test from 'ava'
import { Type } from 'typebox'
import { closed } from '../../../schemas/shared.ts'
import { goodBody, startEcho } from './echo.ts'

const p = { key: 'a', step: 1, value: 1 }
/** Points that differ in one field, and the error for that field. */
const ofPoint: [why: string, field: string, value: unknown, type: string][] = [
  ['text instead of a number', 'step', 'x', 'int_type'],
  ['a fraction for an integer', 'step', 1.5, 'int_type'],
  ['a small number', 'step', -1, 'greater_than_equal'],
  ['a large number', 'step', 11, 'less_than_equal'],
  ['text instead of a float', 'value', 'x', 'float_type'],
  ['a number instead of text', 'key', 1, 'string_type'],
  ['a short text', 'key', '', 'string_too_short'],
  ['a long text', 'key', 'abcdef', 'string_too_long'],
  ['a text off its pattern', 'key', 'A', 'string_pattern_mismatch'],
  ['a timestamp without offset', 'ts', '2026-11-20T19:26:53', 'datetime_parsing'],
  ['a timestamp that does not exist', 'ts', '2026-13-20T19:26:53Z', 'datetime_parsing'],
]
/** Fields next to the points, or in their place. */
const ofBody: [why: string, body: object, loc: unknown[], type: string][] = [
  ['a missing field', { points: undefined }, ['points'], 'missing'],
  ['not a list', { points: {} }, ['points'], 'list_type'],
  ['not an object', { points: [3] }, ['points', 0], 'dict_type'],
  ['an empty list', { points: [] }, ['points'], 'too_short'],
  ['a long list', { points: [p, p, p, p] }, ['points'], 'too_long'],
  ['an unknown key', { huh: 1 }, ['huh'], 'extra_forbidden'],
  ['a word not on the list', { mode: 'x' }, ['mode'], 'literal_error'],
  ['text instead of a boolean', { flag: 'true' }, ['flag'], 'bool_type'],
  ['a number instead of text or null', { note: 3 }, ['note'], 'string_type'],
]
/** Text that `JSON.stringify` would not write, after the points. */
const ofText: [why: string, json: string, loc: unknown[]][] = [
  ['an escaped U+0000', '"note":"a\\u0000b"', ['note']],
  ['a lone surrogate', '"note":"\\ud800"', ['note']],
  ['a __proto__ key', '"extra":{"__proto__":{}}', ['extra', '__proto__']],
]

const refusals: (readonly [why: string, body: string, loc: readonly unknown[], type: string])[] = [
  ...ofPoint.map(
    ([why, field, value, type]) =>
      [
        why,
        JSON.stringify({ points: [{ ...p, [field]: value }] }),
        ['points', 0, field],
        type,
      ] as const,
  ),
  ...ofBody.map(
    ([why, body, loc, type]) => [why, JSON.stringify({ points: [p], ...body }), loc, type] as const,
  ),
  ...ofText.map(
    ([why, json, loc]) =>
      [why, `{"points":[${JSON.stringify(p)}],${json}}`, loc, 'value_error'] as const,
  ),
]

for (const [why, body, loc, type] of refusals)
  test(`422 for ${why}`, async t => {
    const { post } = await startEcho(t)
    const answer = await post(body)
    t.is(answer.status, 422)
    t.like(answer.body.detail[0], { loc: ['body', ...loc], type })
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

test('nesting of tens of thousands is refused where the schema names every key', async t => {
  const { url } = await startEcho(t, [
    {
      method: 'POST',
      path: '/api/flat',
      tag: 'test',
      summary: 'Takes texts',
      body: closed({ texts: Type.Array(Type.String()) }),
      bodyLimitBytes: 1024 * 1024,
      flatBody: true,
      keysMayRepeat: true,
      response: Type.Unknown(),
      handle: async () => ({}),
    },
  ])
  const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  for (const [body, loc, type] of [
    [nested, ['body'], 'dict_type'],
    [`{"texts":[${nested}]}`, ['body', 'texts', 0], 'string_type'],
  ] as const) {
    const response = await fetch(`${url}/api/flat`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    t.is(response.status, 422)
    const { detail } = (await response.json()) as { detail: { loc: unknown; type: string }[] }
    t.like(detail[0], { loc, type })
  }
})

test('a number beyond what JSON can say is refused, and not echoed as null', async t => {
  const { post } = await startEcho(t)
  const { status, body } = await post('{"points":[{"key":"a","step":1,"value":1e999}]}')
  t.is(status, 422)
  t.deepEqual(body.detail, [
    {
      loc: ['body', 'points', 0, 'value'],
      msg: 'Input should be a valid number',
      type: 'float_type',
    },
  ])
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

test('gzip and zstd bodies are accepted', async t => {
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

test('a body that is not UTF-8 is 400, compressed or not, and nothing in it is replaced', async t => {
  const { post } = await startEcho(t)
  const latin = Buffer.from(goodBody.replace('}]}', '}],"note":"caf\u00e9"}'), 'latin1')
  for (const [body, headers] of [
    [latin, {}],
    [gzipSync(latin), { 'content-encoding': 'gzip' }],
    [Buffer.concat([Buffer.from('\ufeff'), latin]), {}],
  ] as const) {
    const answer = await post(body, headers)
    t.is(answer.status, 400)
    t.like(answer.body, { code: 'body.not_utf8' })
    t.regex(answer.body.detail, /not valid UTF-8/)
  }
  const marked = Buffer.from(`\ufeff${goodBody}`)
  t.is((await post(marked)).status, 200, 'a byte order mark is no fault')
  t.is((await post(gzipSync(marked), { 'content-encoding': 'gzip' })).status, 200)
})

/** Bodies with two equal keys, and where these are. */
const repeated: [why: string, body: string, loc: unknown[]][] = [
  ['at the top', `{"note":"a",${goodBody.slice(1, -1)},"note":"b"}`, ['note']],
  ['with equal values', `{"note":"a",${goodBody.slice(1, -1)},"note":"a"}`, ['note']],
  ['written differently', `{"note":"a",${goodBody.slice(1, -1)},"n\\u006fte":"b"}`, ['note']],
  ['deep inside', goodBody.replace(':1}', ':1,"key":"b"}'), ['points', 0, 'key']],
]
for (const [why, body, loc] of repeated)
  test(`two equal keys ${why} are 400, with their place`, async t => {
    const { post } = await startEcho(t)
    const answer = await post(body)
    t.is(answer.status, 400)
    t.like(answer.body, { code: 'body.repeated_key', data: { loc: ['body', ...loc] } })
    t.regex(answer.body.detail, new RegExp(`"${loc.at(-1)}" twice`))
  })

test('equal keys of different objects are accepted', async t => {
  const { post } = await startEcho(t)
  const extra = { key: { key: [{ key: 1 }, { key: 'key' }] } }
  const { status, body } = await post(JSON.stringify({ points: [p, p], extra }))
  t.is(status, 200)
  t.deepEqual(body.body.extra, extra)
})

test('a deep value that a repeated key replaces does not overflow', async t => {
  const { url } = await startEcho(t, [
    {
      method: 'POST',
      path: '/api/large',
      tag: 'test',
      summary: 'Takes anything',
      body: closed({ extra: Type.Unknown() }),
      bodyLimitBytes: 1024 * 1024,
      response: Type.Unknown(),
      handle: async () => ({}),
    },
  ])
  const response = await fetch(`${url}/api/large`, {
    method: 'POST',
    body: `{"extra":${'['.repeat(200_000)}${']'.repeat(200_000)},"extra":1}`,
    headers: { 'content-type': 'application/json' },
  })
  t.is(response.status, 422)
})
