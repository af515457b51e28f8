import test from 'ava'
import { deleteRetired } from '../../command-api/rubrics/delete-retired.ts'
import { storeScores } from '../../command-api/rubrics/scores.ts'
import type { RubricContent } from '../../events/rubrics.ts'
import type { ScoresFound } from '../../schemas/rubrics/scores.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import type { ExternalRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

const sample = (n: number) => `sha256:${n.toString(16).padStart(64, '0')}`
const scored = (...samples: number[]) => samples.map(n => ({ sample: sample(n), score: 0.5 }))

type Options = { token?: string; body?: object }
const rubricOf = (forge: Forge, name: string, { token }: Options = {}) => {
  const path = `/api/rubrics/admin/${name}`
  return {
    write: (content: object = {}) =>
      forge.call('PUT', path, {
        body: { name, criteria: [{ name: 'clear' }], ...content },
      }),
    store: (body: object) =>
      forge.call('POST', `${path}/scores`, { body, ...(token && { token }) }),
    find: (judge: string, ...samples: number[]) =>
      forge.call<ScoresFound>('POST', `${path}/scores/lookup`, {
        body: { judge, samples: samples.map(sample) },
        ...(token && { token }),
      }),
  }
}

test('scores are found by judge and sample until the next version retires and counts them', async t => {
  const forge = await shared()
  const rubric = rubricOf(forge, 'kept')
  await rubric.write()
  const first = { version: 1, judge: 'a@1', scores: scored(1, 2, 3) }
  t.deepEqual((await rubric.store(first)).body, { ok: true, version: 1, stored: 3, replaced: 0 })
  const again = { ...first, scores: [{ sample: sample(3), score: 0.9, criteria: { clear: 1 } }] }
  t.like((await rubric.store(again)).body, { stored: 0, replaced: 1 })
  t.like((await rubric.store({ ...first, judge: 'b@1', scores: scored(1) })).body, { stored: 1 })

  const { body } = await rubric.find('a@1', 3, 4, 1, 3)
  t.like(body, { version: 1, judge: 'a@1', missing: [sample(4)] })
  t.like(body.scores, [
    { sample: sample(3), score: 0.9, criteria: { clear: 1 } },
    { sample: sample(1), score: 0.5, criteria: {} },
  ])
  t.deepEqual((await rubric.find('b@1', 1, 2)).body.missing, [sample(2)])

  t.like((await rubric.write()).body, { version: 1, changed: false, retired_scores: 0 })
  t.like((await rubric.write({ description: 'x' })).body, { version: 2, retired_scores: 4 })
  t.deepEqual((await rubric.find('a@1', 1)).body, {
    ...{ version: 2, judge: 'a@1', scores: [], missing: [sample(1)] },
  })
  t.like((await rubric.store({ ...first, version: 2, scores: scored(1) })).body, { stored: 1 })
  const refused = await rubric.store(first)
  t.is(refused.status, 409)
  t.like(refused.body, { code: 'rubric.outdated', data: { version: 2 } })

  await deleteRetired(forge.pool, 3)
  const { rows } = await forge.pool.query(
    `select version, count(*) from write.rubric_score where name = 'kept' group by version`,
  )
  t.deepEqual(rows, [{ version: 2, count: 1 }])
  t.like((await rubric.find('a@1', 1)).body, { missing: [] })
  t.like((await rubric.write({ description: 'y' })).body, { version: 3, retired_scores: 1 })
})

test('scores off the scale or of unknown criteria are refused, all together', async t => {
  const forge = await shared()
  const rubric = rubricOf(forge, 'checked')
  await rubric.write({ scale_max: 5 })
  const scores = [
    { sample: sample(1), score: 5 },
    { sample: sample(2), score: 5.1 },
    { sample: sample(3), score: 1, criteria: { tone: 1 } },
  ]
  const { status, body } = await rubric.store({ version: 1, judge: 'a@1', scores })
  t.is(status, 422)
  t.like(body, {
    detail: [
      { loc: ['body', 'scores', 1, 'score'], msg: 'The scale is from 0 to 5' },
      { loc: ['body', 'scores', 2, 'criteria', 'tone'] },
    ],
  })
  t.deepEqual((await rubric.find('a@1', 1)).body.scores, [])
})

test('the code of a run uses the rubrics that its owner may read', async t => {
  const forge = await shared()
  const token = await signedIn(forge, 'judy')
  const created = await forge.call<ExternalRun>('POST', '/api/runs', {
    token,
    body: { project: 'of-judy' },
  })
  const run = created.body
  const rubric = rubricOf(forge, 'secret', { token })
  await rubric.write()
  const of = { run_id: run.run_id, rubric: 'admin/secret', judge: 'a@1' }
  const call = (path: string, body: object) =>
    forge.call('POST', `/api/ingest/rubric/scores${path}`, { token: run.token, body })
  const store = () => call('', { ...of, version: 1, scores: scored(1) })
  const find = () => call('/lookup', { ...of, samples: [sample(1)] })

  const hidden = [await store(), await find(), await rubric.find('a@1', 1)]
  t.deepEqual(
    hidden.map(({ status }) => status),
    [404, 404, 404],
  )
  const unknown = await call('/lookup', { ...of, rubric: 'admin/none', samples: [sample(1)] })
  t.is(unknown.status, 404)

  await rubric.write({ visibility: 'public' })
  t.is((await call('', { ...of, version: 2, scores: scored(1) })).status, 200)
  t.like((await find()).body, { version: 2, missing: [] })
  t.like((await rubric.find('a@1', 1)).body, { version: 2, missing: [] })
})

test('each score stored while versions are written is counted by the next one, or refused', async t => {
  const forge = await shared()
  const rubric = rubricOf(forge, 'raced')
  await rubric.write()
  let stored = 0
  let version = 1
  let isOver = false
  const judges = Array.from({ length: 4 }, async (_, judge) => {
    for (let n = 0; !isOver; n++) {
      const { status, body } = await rubric.store({
        ...{ version, judge: `${judge}@1`, scores: scored(n) },
      })
      if (status === 200) stored += Number(body.stored)
      else version = (body.data as { version: number }).version
    }
  })
  let retired = 0
  for (let n = 0; n < 20; n++) {
    const had = stored
    await until('a score is stored', 20_000, async () => stored > had)
    retired += Number((await rubric.write({ description: `${n}` })).body.retired_scores)
  }
  isOver = true
  await Promise.all(judges)
  retired += Number((await rubric.write({ description: 'last' })).body.retired_scores)
  t.true(stored >= 20, String(stored))
  t.is(retired, stored)
})

test('beyond the limit of scores the oldest are deleted', async t => {
  const forge = await shared()
  const rubric = { owner: 'admin', name: 'full', version: 1 } as RubricContent
  const count = async () => {
    const { rows } = await forge.pool.query(
      `select (select count(*) from write.rubric_score where name = 'full') as rows,
              (select scores from write.rubric_score_version where name = 'full') as counted`,
    )
    return rows[0]
  }
  const tx = await forge.pool.connect()
  try {
    for (let n = 0; n < 12; n++) {
      const given = { version: 1, judge: 'a@1', scores: scored(n) }
      await storeScores(tx, rubric, given, new Date(1_790_000_000_000 + n), 10)
    }
  } finally {
    tx.release()
  }
  // The eleventh replaced two.
  t.deepEqual(await count(), { rows: 10, counted: 10 })
  const { rows } = await forge.pool.query<{ sample: string }>(
    `select sample from write.rubric_score where name = 'full' order by scored_at limit 1`,
  )
  t.is(rows[0]?.sample, sample(2))
})
