import test from 'ava'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, type ExternalRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

type Refused = { detail: string | { loc: unknown[]; type: string }[]; code?: string }
type Round = { step: number; complete: boolean; received_chunks: number; missing_chunks: number[] }
type Sample = { sample_id: string; user: string; assistant: string; sample_key: string }

const send = (forge: Forge, run: ExternalRun, body: object | string, token = run.token) =>
  forge.call<Refused & Record<string, unknown>>('POST', '/api/ingest/validation', {
    token,
    body: typeof body === 'string' ? body : { run_id: run.run_id, ...body },
  })

const sample = { user: 'What is 2 + 2?', assistant: '4', env: 'sums', reward: 1, extra: { n: 1 } }
const round = { step: 100, samples: [sample], avg_reward: 0.5, accuracy: 0.25 }

const roundsOf = async (forge: Forge, { run_id }: ExternalRun) =>
  (await forge.call<Round[]>('GET', `/api/runs/${run_id}/validation`)).body

const samplesOf = async (forge: Forge, { run_id }: ExternalRun, step = 100) =>
  (await forge.call<Sample[]>('GET', `/api/runs/${run_id}/validation/${step}?limit=500`)).body

const longest = 256 * 1024
const many = (count: number) => Array.from({ length: count }, () => ({ assistant: '4' }))

test('chunks arrive in any order, a repeated chunk replaces the earlier one, and the last completes the round', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const chunk = (chunk_index: number, assistant: string) =>
    send(forge, run, {
      ...round,
      chunk_index,
      total_chunks: 3,
      samples: [{ ...sample, assistant }],
    })
  const reply = { ok: true, step: 100, inserted: 1, total_chunks: 3 }
  t.like(await chunk(2, 'c'), {
    status: 200,
    body: { ...reply, received_chunks: 1, complete: false },
  })
  t.deepEqual((await chunk(0, 'a')).body as object, {
    ...reply,
    received_chunks: 2,
    complete: false,
  })
  t.like((await chunk(0, 'again')).body, { received_chunks: 2, complete: false })
  const half = await until('three chunks are read', 30_000, async () => {
    const [found] = await roundsOf(forge, run)
    return found?.received_chunks === 2 && found
  })
  t.like(half, { complete: false, missing_chunks: [1] })
  t.like((await chunk(1, 'b')).body, { received_chunks: 3, complete: true })
  t.like((await chunk(1, 'last')).body, { received_chunks: 3, complete: true })
  const found = await until('the repeated chunk is read', 30_000, async () => {
    const samples = await samplesOf(forge, run)
    return samples.some(one => one.assistant === 'last') && samples
  })
  t.deepEqual(
    found.map(one => [one.sample_id, one.assistant]),
    [
      ['100-0-0', 'again'],
      ['100-1-0', 'last'],
      ['100-2-0', 'c'],
    ],
  )
  t.like((await roundsOf(forge, run))[0], {
    samples: 3,
    complete: true,
    missing_chunks: [],
    avg_reward: 0.5,
    accuracy: 0.25,
    reward: { min: 1, max: 1, mean: 1 },
  })
  const { rows } = await forge.pool.query(
    `select data - 'run_id' as data from write.event
      where type = 'validation.round_completed' and meta -> 'actor' ->> 'id' = $1`,
    [run.run_id],
  )
  const data = { step: 100, total_chunks: 3, avg_reward: 0.5, accuracy: 0.25 }
  t.deepEqual(rows, [{ data }])
})

test('each bad field is 422 at its place, and no part of the report is stored', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  const ofSample = (name: string, value: unknown) => ({
    ...round,
    samples: [sample, { ...sample, [name]: value }],
  })
  const inSample = (...rest: unknown[]) => ['samples', 1, ...rest]
  const bad: [why: string, body: object, loc: unknown[], type: string][] = [
    ['no step', { samples: [] }, ['step'], 'missing'],
    ['a fraction for a step', { ...round, step: 0.5 }, ['step'], 'int_type'],
    ['a step over 2^53', { ...round, step: 2 ** 53 }, ['step'], 'less_than_equal'],
    ['no samples', { step: 1 }, ['samples'], 'missing'],
    ['samples that are not a list', { ...round, samples: {} }, ['samples'], 'list_type'],
    ['501 samples', { ...round, samples: many(501) }, ['samples'], 'too_long'],
    ['a sample that is a text', { ...round, samples: ['x'] }, ['samples', 0], 'dict_type'],
    ['a prompt that is a list', ofSample('user', ['x']), inSample('user'), 'string_type'],
    ['an answer that is a number', ofSample('assistant', 4), inSample('assistant'), 'string_type'],
    ['a reward that is a text', ofSample('reward', 'high'), inSample('reward'), 'float_type'],
    ['extra that is a text', ofSample('extra', 'x'), inSample('extra'), 'dict_type'],
    ['an empty prompt key', ofSample('sample_key', ''), inSample('sample_key'), 'string_too_short'],
    [
      'a prompt key of 251',
      ofSample('sample_key', 'x'.repeat(251)),
      inSample('sample_key'),
      'string_too_long',
    ],
    [
      'an unknown field of a sample',
      ofSample('prompt', 'x'),
      inSample('prompt'),
      'extra_forbidden',
    ],
    ['U+0000 in a prompt', ofSample('user', 'a\u0000'), inSample('user'), 'value_error'],
    ['an average that is a text', { ...round, avg_reward: 'x' }, ['avg_reward'], 'float_type'],
    ['an accuracy that is a list', { ...round, accuracy: [1] }, ['accuracy'], 'float_type'],
    ['a chunk below 0', { ...round, chunk_index: -1 }, ['chunk_index'], 'greater_than_equal'],
    ['a chunk past its round', { ...round, chunk_index: 1 }, ['chunk_index'], 'less_than_equal'],
    ['no chunks', { ...round, total_chunks: 0 }, ['total_chunks'], 'greater_than_equal'],
    ['10,001 chunks', { ...round, total_chunks: 10_001 }, ['total_chunks'], 'less_than_equal'],
    ['attempt 0', { ...round, attempt: 0 }, ['attempt'], 'greater_than_equal'],
    ['an unknown field', { ...round, chunks: 2 }, ['chunks'], 'extra_forbidden'],
  ]
  for (const [why, body, loc, type] of bad) {
    const answer = await send(forge, run, body)
    t.is(answer.status, 422, why)
    t.like(answer.body.detail[0], { loc: ['body', ...loc], type }, why)
  }
  const bare = await send(
    forge,
    run,
    `{"run_id":"${run.run_id}","step":1,"samples":[],"accuracy":NaN}`,
  )
  t.like(bare.body.detail[0], { type: 'json_invalid' })
  const { rows } = await forge.pool.query('select from write.validation_round where run_id = $1', [
    run.run_id,
  ])
  t.is(rows.length, 0)
})

test('values at a limit are accepted, and those beyond it are not', async t => {
  const forge = await shared()
  const run = await createRun(forge)
  t.like(await send(forge, run, { step: 1, samples: many(500) }), {
    status: 200,
    body: { inserted: 500 },
  })
  t.like(await send(forge, run, { ...round, step: 2, chunk_index: 9_999, total_chunks: 10_000 }), {
    status: 200,
    body: { received_chunks: 1, complete: false },
  })
  const kept = 'é'.repeat(longest / 2)
  const texts = [kept, `${kept}x`, `x${kept}`]
  const samples = [
    ...texts.map(user => ({ user })),
    { env: { long: kept }, extra: { long: [kept] } },
    { env: 'x'.repeat(longest), extra: { nothing: null } },
  ]
  t.is((await send(forge, run, { step: 3, samples })).status, 200)
  const stored = await until('the long samples are read', 30_000, async () => {
    const found = await samplesOf(forge, run, 3)
    return found.length === samples.length && found
  })
  const [whole, cut, cutEarlier, ofAnyShape, last] = stored
  t.is(whole?.user, kept)
  t.is(cut?.user, `${kept}[… cut: 262145 bytes, the first 262144 are kept]`)
  t.is(cutEarlier?.user, `x${kept.slice(0, -1)}[… cut: 262145 bytes, the first 262143 are kept]`)
  t.not(whole?.sample_key, cut?.sample_key)
  t.regex(JSON.stringify(ofAnyShape), /"env":"\{\\"long\\":\\"é+\[… cut: .*"extra":\{"cut":"/)
  t.like(last, { env: 'x'.repeat(longest), extra: { nothing: null }, sample_key: null })

  const exactly = (bytes: number) => {
    const start = `{"run_id":"${run.run_id}","step":4,"samples":[{"assistant":"`
    return `${start}${'x'.repeat(bytes - start.length - 4)}"}]}`
  }
  t.is((await send(forge, run, exactly(10_000_000))).status, 200)
  t.is((await send(forge, run, exactly(10_000_001))).status, 413)
  await forge.pool.query(
    `insert into write.validation_round select $1, n, 1, '\\x00' from generate_series(100, 100094) n`,
    [run.run_id],
  )
  t.is((await send(forge, run, { step: 99_999_999, samples: [] })).status, 200)
  t.like(await send(forge, run, { step: 99_999_998, samples: [] }), {
    status: 409,
    body: { code: 'validation.too_many_rounds' },
  })
  t.is((await send(forge, run, { step: 99_999_999, samples: [] })).status, 200, 'a known round')
})

test('another number of chunks, a foreign token and a run that ended long ago are refused', async t => {
  const forge = await shared()
  const [run, other] = [await createRun(forge), await createRun(forge)]
  t.is((await send(forge, run, { ...round, total_chunks: 2 })).status, 200)
  t.like(await send(forge, run, { ...round, total_chunks: 3, chunk_index: 1 }), {
    status: 409,
    body: { code: 'validation.other_total', data: { step: 100, total_chunks: 2 } },
  })
  t.is((await send(forge, run, { ...round, total_chunks: 3, step: 101 })).status, 200)
  t.is((await send(forge, run, round, other.token)).status, 403)
  t.is((await send(forge, run, round, forge.token)).status, 401)
  const answer = await send(forge, { ...run, run_id: run.short_id }, { ...round, step: 102 })
  t.is(answer.status, 200)
  t.is(answer.headers.get('Forge-Control'), 'none')
  const end = (ago: string) =>
    forge.pool.query(
      `update write.run_state set ended_at = now() - $2::interval where run_id = $1`,
      [run.run_id, ago],
    )
  await end('14 minutes')
  await until('the end is known', 10_000, async () => {
    const { rows } = await forge.pool.query(
      'select ended_at from write.run_state where run_id = $1',
      [run.run_id],
    )
    return rows[0].ended_at !== null
  })
  t.is((await send(forge, run, { ...round, step: 103 })).status, 200)
  await end('16 minutes')
  await until('reports are refused', 10_000, async () => {
    const late = await send(forge, run, { ...round, step: 104 })
    return late.status === 409 && late.body.code === 'run.ended'
  })
})
