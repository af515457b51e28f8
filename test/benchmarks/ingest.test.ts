import test from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Refused = { detail: { loc: unknown[]; type: string }[] }
type Row = Record<string, unknown> & {
  result_id: string
  step: number | null
  scores: { metric: string; value: unknown }[]
  history: { scores: { metric: string; value: unknown }[] }[]
}

const send = (forge: Forge, run: ExternalRun, body: object) =>
  forge.call<Refused & { result_id: string }>('POST', '/api/ingest/benchmark', {
    token: run.token,
    body: { run_id: run.run_id, ...body },
  })
const read = async (forge: Forge, run: ExternalRun, query = '') =>
  (await forge.call<Row[]>('GET', `/api/runs/${run.run_id}/benchmarks${query}`)).body as Row[]

/** Every field in the contract. */
const full = {
  benchmark: 'gsm8k',
  version: '1',
  task: null,
  split: 'test',
  step: 150,
  artifact_id: null,
  model: null,
  harness: { name: 'lm-eval', version: '0.4.9', commit: null },
  config: { num_fewshot: 5, temperature: 0, until: ['\n\n'], api_key: 'abc' },
  scores: [
    { metric: 'exact_match', value: 0.712, stderr: 0.012, n: 1319, higher_is_better: true },
    { metric: 'loss', value: 'NaN' },
    { metric: 'exact_match_strict', value: 0.7 },
  ],
  samples_uri: null,
  started_at: '2026-11-20T12:00:00+00:00',
  ended_at: null,
}
const score = (value: number) => [{ metric: 'exact_match', value }]

test.serial(
  'a resent result replaces the earlier one, whose scores are kept as history',
  async t => {
    const forge = await startForge(t)
    const run = await createRun(forge)
    const first = await send(forge, run, full)
    t.is(first.status, 200)
    const { result_id } = first.body
    t.regex(result_id, /^bmr_[0-9a-f]{32}$/)
    t.deepEqual(first.body as object, { ok: true, result_id, inserted: 3 })
    t.deepEqual((await send(forge, run, full)).body as object, first.body)
    const again = await send(forge, run, { ...full, scores: score(0.8) })
    t.deepEqual(again.body as object, { ok: true, result_id, inserted: 1 })
    const others = [
      { benchmark: 'math', scores: score(0.1) },
      { ...full, step: 200 },
      { ...full, config: {} },
      { ...full, artifact_id: 'art_1' },
    ]
    const ids: string[] = []
    for (const one of others) ids.push((await send(forge, run, one)).body.result_id)
    t.is(new Set([result_id, ...ids]).size, 5)
    const sameArtifact = await send(forge, run, { ...full, artifact_id: 'art_1', step: 151 })
    t.is(sameArtifact.body.result_id, String(ids[3]))

    const rows = await until('all can be read', 20_000, async () => {
      const rows = await read(forge, run)
      return rows.length === 5 && rows.every(row => row.step !== 150 || !row.artifact_id) && rows
    })
    const row = rows.find(one => one.result_id === result_id)
    t.like(row, { ...full, config: { ...full.config, api_key: '***' }, scores: score(0.8) })
    t.deepEqual(
      row?.history.map(({ scores }) => scores.map(({ metric, value }) => [metric, value])),
      [
        [
          ['exact_match', 0.712],
          ['loss', 'NaN'],
          ['exact_match_strict', 0.7],
        ],
      ],
    )
    t.is(rows.at(-1)?.benchmark, 'math')
    t.is((await read(forge, run, '?benchmark=math')).length, 1)
    t.is((await read(forge, run, '?limit=2&offset=4')).length, 1)
    t.is((await forge.call('GET', '/api/runs/run_unknown/benchmarks')).status, 404)
  },
)

const wrong: [field: string, value: unknown, loc: unknown[], type: string][] = [
  ['benchmark', undefined, [], 'missing'],
  ['benchmark', '', [], 'string_too_short'],
  ['benchmark', 'x'.repeat(251), [], 'string_too_long'],
  ['version', 1, [], 'string_type'],
  ['step', -1, [], 'greater_than_equal'],
  ['step', 0.5, [], 'int_type'],
  ['artifact_id', '', [], 'string_too_short'],
  ['harness', { what: 1 }, ['what'], 'extra_forbidden'],
  ['config', [], [], 'dict_type'],
  ['scores', undefined, [], 'missing'],
  ['scores', [], [], 'too_short'],
  ['scores', [{ value: 1 }], [0, 'metric'], 'missing'],
  ['scores', [{ metric: 'm', value: '1' }], [0, 'value'], 'float_type'],
  ['scores', [{ metric: 'm', value: 1, stderr: -1 }], [0, 'stderr'], 'greater_than_equal'],
  ['scores', [{ metric: 'm', value: 1, n: 1.5 }], [0, 'n'], 'int_type'],
  ['started_at', '2026-11-20', [], 'datetime_parsing'],
  ['samples_uri', 5, [], 'string_type'],
  ['what', 1, [], 'extra_forbidden'],
]

test.serial(
  'bad fields are 422 at their place, foreign tokens are refused, the end of the run does not matter',
  async t => {
    const forge = await startForge(t)
    const [run, other] = [await createRun(forge), await createRun(forge)]
    for (const [field, value, loc, type] of wrong) {
      const reply = await send(forge, run, { ...full, [field]: value })
      const what = `${field} ${JSON.stringify(value)}`
      t.is(reply.status, 422, what)
      t.like(reply.body.detail[0], { loc: ['body', field, ...loc], type }, what)
    }
    const scores = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ metric: `m${n}`, value: n }))
    t.like(await send(forge, run, { ...full, scores: scores(1000) }), {
      status: 200,
      body: { inserted: 1000 },
    })
    t.like((await send(forge, run, { ...full, scores: scores(1001) })).body.detail[0], {
      loc: ['body', 'scores'],
      type: 'too_long',
    })
    t.is((await send(forge, run, { ...full, what: 'x'.repeat(256 * 1024) })).status, 413)
    t.is((await send(forge, { ...other, token: run.token }, full)).status, 403)
    t.is((await send(forge, { ...run, token: forge.token }, full)).status, 401)
    await forge.pool.query(
      `update write.run_state set ended_at = now() - interval '20 days' where run_id = $1`,
      [other.run_id],
    )
    const late = await send(forge, other, full)
    t.is(late.status, 200)
    t.is(late.headers.get('Forge-Control'), 'none')
  },
)
