import test, { type ExecutionContext } from 'ava'
import { endJudging } from '../../command-api/rubrics/judging/decide.ts'
import { reader, sampleDigest } from '../../command-api/rubrics/judging/question.ts'
import type { Judgement, JudgingRecord, RubricTested } from '../../schemas/rubrics/judgings.ts'
import { deployed } from '../gateway/deployed.ts'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { createRun, ingest } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'
import { type JudgeEngine, startJudge } from './judge-engine.ts'

const shared = sharedForge()

const standard = {
  criteria: [
    { name: 'clear', weight: 3, description: '' },
    { name: 'kind', weight: 1, description: '' },
  ],
  ...{ description: '', scale_min: 0, scale_max: 4 },
}

test('a score is the weighted mean of valid criteria; anything else is a fault, never a score', t => {
  const read = reader(standard)
  const judged = (scores: unknown) => read(JSON.stringify({ reason: 'why', scores }))
  t.deepEqual(judged({ clear: 4, kind: 0 }), {
    ...{ score: 3, criteria: { clear: 4, kind: 0 }, reason: 'why' },
  })
  for (const wrong of [{ clear: 4 }, { clear: 5, kind: 0 }, { clear: '4', kind: 0 }, null])
    t.regex(String(judged(wrong)), /does not fit the schema/)
  t.regex(String(judged({ clear: 1, kind: 1, more: 1 })), /does not fit/)
  for (const wrong of ['{"reason": "cut o', '4', '', '{"scores": {"clear": 1, "kind": 1}}'])
    t.is(typeof read(wrong), 'string')
  const weightless = {
    ...standard,
    criteria: standard.criteria.map(one => ({ ...one, weight: 0 })),
  }
  t.like(reader(weightless)('{"reason": "", "scores": {"clear": 4, "kind": 0}}'), { score: 2 })
})

test('samples that a judge sees alike have one digest', t => {
  const sample = { user: 'a', assistant: 'b', extra: null }
  t.is(sampleDigest(sample), sampleDigest({ ...sample }))
  t.not(sampleDigest(sample), sampleDigest({ ...sample, extra: { reference: 'c' } }))
})

test('a judging ends once, and has failed without a score', t => {
  const end = { judging_id: 'jdg_1', reason: null, scored: 1, cached: 0, failed: 2 }
  t.like(endJudging({ isOpen: true }, end), [{ data: { state: 'succeeded', reason: null } }])
  t.like(endJudging({ isOpen: true }, { ...end, scored: 0 }), [{ data: { state: 'failed' } }])
  t.deepEqual(endJudging({ isOpen: false }, end), [])
})

type Stage = {
  forge: Forge
  engine: JudgeEngine
  judge: string
  run_id: string
  rubric: string
  path: string
}

/** A deployment that judges, a rubric and a run with a validation round. */
async function stage(
  t: ExecutionContext,
  name: string,
  answers: readonly string[],
): Promise<Stage> {
  const forge = await shared()
  const engine = await startJudge(t)
  const { deployment_id } = await deployed(forge, name, [engine.url])
  const run = await createRun(forge, 'serving')
  await forge.call('PUT', `/api/rubrics/admin/${name}`, {
    body: { name, criteria: [{ name: 'clear' }] },
  })
  await ingest(forge, run, 'validation', {
    step: 10,
    samples: answers.map(assistant => ({ user: 'a question', assistant })),
  })
  const { run_id } = run
  await until('the round can be read', 20_000, async () => {
    const { body } = await forge.call<unknown[]>('GET', `/api/runs/${run_id}/validation/10`)
    return body.length === answers.length
  })
  return {
    ...{ forge, engine, judge: deployment_id, run_id, rubric: `admin/${name}` },
    path: `/api/runs/${run_id}/judgings`,
  }
}

const begin = ({ forge, path, rubric, judge }: Stage, token = forge.token) =>
  forge.call<{ judging_id: string; detail: string }>('POST', path, {
    token,
    body: { rubric, judge },
  })

const ended = async ({ forge, path }: Stage, judging_id: string): Promise<JudgingRecord> =>
  until('the judging has ended', 60_000, async () => {
    const { body } = await forge.call<JudgingRecord[]>('GET', path)
    const found = body.find(one => one.judging_id === judging_id)
    return found !== undefined && found.state !== 'running' && found
  })

const outcomes = async ({ forge, path }: Stage, judging_id: string) =>
  (await forge.call<Judgement[]>('GET', `${path}/${judging_id}`)).body

test('a deployment judges a round once per sample, with a schema, and its scores are known until the rubric changes', async t => {
  const on = await stage(t, 'judged', ['one', 'two', 'one', 'wrong', 'slow'])
  const { forge, engine } = on
  engine.answer = (response, nth) => {
    if (response === 'wrong') return '{"reason": "no score", "scores": {"clear": 7}}'
    if (response === 'slow' && nth === 1) return 503
    return JSON.stringify({ reason: `about ${response}`, scores: { clear: 0.5 } })
  }
  const { body: made } = await begin(on)
  const done = await ended(on, made.judging_id)
  t.like(done, {
    ...{ state: 'succeeded', samples: 5, scored: 4, cached: 0, failed: 1, step: 10, version: 1 },
    ...{ rubric: 'admin/judged', is_current: true, mean: 0.5, requested_by: 'admin' },
  })
  const rows = await outcomes(on, made.judging_id)
  t.deepEqual(
    rows.map(({ sample_id, outcome, score, reason }) => [sample_id, outcome, score, reason]),
    [
      ['10-0-0', 'scored', 0.5, 'about one'],
      ['10-0-1', 'scored', 0.5, 'about two'],
      ['10-0-2', 'scored', 0.5, 'about one'],
      ['10-0-3', 'failed', null, null],
      ['10-0-4', 'scored', 0.5, 'about slow'],
    ],
  )
  t.regex(rows[3]?.error ?? '', /does not fit the schema/)
  const count = (response: string) => engine.asked.filter(one => one.response === response).length
  t.deepEqual([count('one'), count('two'), count('wrong'), count('slow')], [1, 1, 3, 2])
  t.true(engine.most <= 4)
  t.like(engine.asked[0], {
    ...{ temperature: 0, response_format: { type: 'json_schema', json_schema: { strict: true } } },
  })

  // The same again asks only about the sample without a score.
  const { body: again } = await begin(on)
  t.like(await ended(on, again.judging_id), { scored: 0, cached: 4, failed: 1 })
  t.is(count('one') + count('two'), 2)
  const traffic = await until('the requests are recorded', 20_000, async () => {
    const path = `/api/deployments/${on.judge}/traffic`
    const { body } = await forge.call<{ token_id: string }[]>('GET', path)
    return body.length >= 10 && body
  })
  t.true(traffic.some(({ token_id }) => token_id === made.judging_id))

  const changed = await forge.call('PUT', '/api/rubrics/admin/judged', {
    body: { name: 'judged', criteria: [{ name: 'clear' }], description: 'another' },
  })
  t.like(changed.body, { version: 2, retired_scores: 3 })
  const { body: third } = await begin(on)
  t.like(await ended(on, third.judging_id), { version: 2, scored: 4, cached: 0 })
  const { body: all } = await forge.call<JudgingRecord[]>('GET', on.path)
  t.deepEqual(
    all.map(({ version, is_current }) => [version, is_current]),
    [
      [2, true],
      [1, false],
      [1, false],
    ],
  )
})

test('a test of a rubric scores a few samples and stores nothing', async t => {
  const on = await stage(t, 'tested', ['one', 'two', 'wrong'])
  const { forge, engine, run_id, judge } = on
  engine.answer = response =>
    response === 'wrong' ? 'not JSON' : '{"reason": "r", "scores": {"clear": 1}}'
  const ask = (body: object = {}, token = forge.token) =>
    forge.call<RubricTested>('POST', '/api/rubrics/admin/tested/test', {
      token,
      body: { run_id, judge, ...body },
    })
  const { status, body } = await ask()
  t.is(status, 200, JSON.stringify(body))
  t.deepEqual(
    body.results.map(({ sample_id, score, error }) => [sample_id, score, error]),
    [
      ['10-0-0', 1, null],
      ['10-0-1', 1, null],
      ['10-0-2', null, 'the response is not JSON'],
    ],
  )
  const draft = { name: 'tested', criteria: [{ name: 'short' }], scale_max: 5 }
  engine.answer = () => '{"reason": "r", "scores": {"short": 4}}'
  t.like((await ask({ draft, limit: 1 })).body.results, [{ score: 4, criteria: { short: 4 } }])
  const { rows } = await forge.pool.query(
    `select (select count(*)::int from write.rubric_score where name = 'tested') as scores,
            (select count(*)::int from write.judging where rubric = 'tested') as judgings`,
  )
  t.deepEqual(rows, [{ scores: 0, judgings: 0 }])
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  engine.answer = () => '{"reason": "It is clear.", "scores": {"clear": 1}}'
  const shown = await run([
    'rubric',
    'test',
    'tested',
    '--run',
    run_id,
    '--judge',
    judge,
    '-l',
    '2',
  ])
  t.regex(shown.stdout, /10-0-0 +1 +It is clear\./)
  t.regex(shown.stderr, /version 1, step 10; nothing was stored/)
  const begun = await run(['rubric', 'judge', 'tested', '--run', run_id, '--judge', judge])
  t.regex(begun.stdout, /^jdg_/)
  await ended(on, begun.stdout.trim())
  t.regex(
    (await run(['rubric', 'judgings', run_id])).stdout,
    /admin\/tested@1 +10 +succeeded +3\/3/,
  )
  t.is((await run(['rubric', 'test', 'tested', '--judge', judge])).code, 2)
  t.is((await ask({ limit: 21 })).status, 422)
  t.is((await ask({ step: 11 })).status, 404)
})

test('only people who may use the deployment and read the run and the rubric may have it judged', async t => {
  const on = await stage(t, 'guarded', ['one'])
  const { forge, run_id, rubric, judge, path } = on
  const [eve, mia] = [await signedIn(forge, 'eve'), await signedIn(forge, 'mia')]
  const missing = await begin(on, eve)
  const unknown = await forge.call('POST', '/api/runs/run_none/judgings', {
    token: eve,
    body: { rubric, judge },
  })
  t.deepEqual([missing.status, unknown.status], [404, 404])
  t.is((await forge.call('GET', path, { token: eve })).status, 404)

  const member = (role: string) =>
    forge.call('PUT', '/api/projects/serving/members/mia', { body: { role } })
  await member('viewer')
  t.is((await begin(on, mia)).status, 404, 'the rubric is private')
  await forge.call('PUT', '/api/rubrics/admin/guarded', {
    body: { name: 'guarded', criteria: [{ name: 'clear' }], visibility: 'public' },
  })
  t.is((await begin(on, mia)).status, 403, 'viewers may not use deployments')
  const test = await forge.call('POST', '/api/rubrics/admin/guarded/test', {
    token: mia,
    body: { run_id, judge },
  })
  t.is(test.status, 403)
  await member('member')
  const made = await begin(on, mia)
  t.is(made.status, 200, made.body.detail)
  await ended(on, made.body.judging_id)

  // A private rubric hides its judgings, even from readers of the run.
  await forge.call('PUT', '/api/rubrics/admin/guarded', {
    body: { name: 'guarded', criteria: [{ name: 'clear' }], visibility: 'private' },
  })
  const { body: hidden } = await forge.call<unknown[]>('GET', path, { token: mia })
  t.deepEqual(hidden, [])
  t.is((await forge.call('GET', `${path}/${made.body.judging_id}`, { token: mia })).status, 404)
})

test('a judging ends with a reason when the rubric changes meanwhile, and two at once are refused', async t => {
  const on = await stage(t, 'raced', ['one', 'two'])
  const { forge, engine } = on
  let release = () => {}
  engine.hold = new Promise(resolve => {
    release = resolve
  })
  const { body: made } = await begin(on)
  await until('the judge is asked', 20_000, async () => engine.asked.length === 2)
  const second = await begin(on)
  t.is(second.status, 409)
  t.like(second.body, { code: 'judging.running', data: { judging_id: made.judging_id } })
  await forge.call('PUT', '/api/rubrics/admin/raced', {
    body: { name: 'raced', criteria: [{ name: 'clear' }], description: 'next' },
  })
  release()
  const done = await ended(on, made.judging_id)
  t.is(done.state, 'failed')
  t.regex(done.reason ?? '', /is at version 2/)
  t.is(done.scored, 0)
})

test('a judging is given up when the deployment is suspended', async t => {
  const on = await stage(t, 'suspended', ['one'])
  const { forge, judge } = on
  await forge.call('POST', `/api/deployments/${judge}/suspend`, { body: {} })
  const refused = await begin(on)
  t.is(refused.status, 409)
  t.like(refused.body, { code: 'judging.no_judge' })
})

test('a running judging is cancelled by who asked for it or controls the run, and keeps its scores', async t => {
  const on = await stage(t, 'cancelled', ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'])
  const { forge, engine, path, run_id } = on
  const [reader, stranger] = [await signedIn(forge, 'reader'), await signedIn(forge, 'stranger')]
  await forge.call('PUT', '/api/projects/serving/members/reader', { body: { role: 'viewer' } })
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  t.teardown(() => release())
  engine.answer = () => {
    engine.hold = held
    return '{"reason": "r", "scores": {"clear": 1}}'
  }
  const { body: made } = await begin(on)
  const record = async (judging_id: string) =>
    (await forge.call<JudgingRecord[]>('GET', path)).body.find(one => one.judging_id === judging_id)
  await until('some are judged, and others wait', 30_000, async () => {
    const scored = (await record(made.judging_id))?.scored ?? 0
    return scored > 0 && engine.asked.length > scored
  })
  const cancel = (judging_id: string, token = forge.token) =>
    forge.call<{ changed: boolean }>('POST', `${path}/${judging_id}/cancel`, { token })
  t.is((await cancel(made.judging_id, stranger)).status, 404)
  await forge.call('PUT', '/api/rubrics/admin/cancelled', {
    body: { name: 'cancelled', criteria: [{ name: 'clear' }], visibility: 'private' },
  })
  t.is((await cancel(made.judging_id, reader)).status, 404, 'its rubric is hidden')
  await forge.call('PUT', '/api/rubrics/admin/cancelled', {
    body: { name: 'cancelled', criteria: [{ name: 'clear' }], visibility: 'public' },
  })
  t.is((await cancel(made.judging_id, reader)).status, 403)
  t.is((await cancel('jdg_none')).status, 404)

  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const { stderr } = await run(['rubric', 'cancel', run_id, made.judging_id])
  t.regex(stderr, /is cancelled/)
  t.like(await record(made.judging_id), { state: 'cancelled', reason: null })
  t.true(((await record(made.judging_id))?.scored ?? 0) > 0, 'the scores are kept')
  t.deepEqual((await cancel(made.judging_id)).body, { judging_id: made.judging_id, changed: false })
  const { rows } = await forge.pool.query(
    `select data ->> 'judging_id' as id from write.event where type in ('judging.cancelled', 'judging.ended')
      and data ->> 'judging_id' = $1`,
    [made.judging_id],
  )
  t.is(rows.length, 1)
  await until('its requests have ended, and its duty', 30_000, async () => {
    const { rows: open } = await forge.pool.query(
      `select from write.duty where cause = $1 and done_at is null`,
      [`judging-${made.judging_id}`],
    )
    return open.length === 0
  })
  // Nothing refuses the next one.
  release()
  engine.hold = null
  engine.answer = () => '{"reason": "r", "scores": {"clear": 1}}'
  const { body: next } = await begin(on)
  t.like(await ended(on, next.judging_id), { state: 'succeeded', samples: 6, failed: 0 })
})
