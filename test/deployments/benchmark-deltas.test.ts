import test from 'ava'
import type { Pool } from 'pg'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { createRun } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Delta = { benchmark: string; metric: string; delta: number; ok: boolean }

const at = '2026-11-22T10:00:00Z'

/** A deployment as projections write it: three revisions of artifacts of a run, promoted one after the other. */
async function seed(pool: Pool, run_id: string): Promise<void> {
  const artifacts = ['a', 'b', 'c']
  await pool.query(
    `insert into read.deployments (deployment_id, name, owner, project, state, promoted_revision_id,
       previous_revision_id, min_replicas, max_replicas, max_body_bytes, timeout_s, max_concurrency, created_at, updated_at)
     values ('dep_s', 'scored', 'admin', 'demo', 'ready', 'rev_b', 'rev_a', 1, 1, 1024, 10, 10, $1, $1)`,
    [at],
  )
  for (const [index, name] of artifacts.entries())
    await pool.query(
      `insert into read.deployment_revisions (revision_id, deployment_id, number, state, source, serving, checks, created_by, created_at)
       values ('rev_' || $1::text, 'dep_s', $2, 'ready', $3, $4, '[]', 'admin', $5)`,
      [name, index + 1, JSON.stringify(sourceOf(run_id, name)), JSON.stringify(serving), at],
    )
  await pool.query(
    `insert into read.deployment_promotions (deployment_id, nth, at, kind, revision_id, previous_revision_id, actor, reason)
     values ('dep_s', 1, $1, 'promoted', 'rev_a', null, 'admin', 'first'),
            ('dep_s', 2, $1, 'promoted', 'rev_b', 'rev_a', 'admin', 'better')`,
    [at],
  )
}

const sourceOf = (run_id: string, name: string) => ({
  ...{ kind: 'artifact', artifact_id: `art_${name}`, run_id, model: null, hub_ref: null },
  ...{ digest: null, url: null, header_name: null },
})
const serving = {
  ...{ template: 'tiny-lm', template_version: '1.0.0', template_digest: null, framework: null },
  ...{ engine: 'tiny-lm', engine_version: null, image: null, params: {}, args: [] },
  ...{ tensor_parallel: 1, served_names: ['default'], dtype: null, quantization: null },
  ...{ profile: null, chat_template: null, smoke: 'chat' },
}

/** A result that was recorded `times` times; this one is the newest. */
async function score(
  pool: Pool,
  run_id: string,
  {
    artifact_id,
    benchmark = 'gsm8k',
    metric = 'accuracy',
    value,
    better = true,
    times = 1,
  }: Scored,
): Promise<void> {
  const result = (worth: number | string) =>
    JSON.stringify({
      ...{ benchmark, version: '1', task: null, split: null, step: null, artifact_id, model: null },
      ...{ harness: null, config: {}, samples_uri: null, started_at: null, ended_at: null },
      scores: [{ metric, value: worth, stderr: null, n: null, higher_is_better: better }],
    })
  for (let nth = 1; nth <= times; nth++)
    await pool.query(
      `insert into read.run_benchmarks (run_id, result_id, revision, benchmark, recorded_at, result)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        ...[run_id, `${benchmark} ${metric} ${artifact_id}`, nth, benchmark, at],
        result(nth === times ? value : 0),
      ],
    )
}
type Scored = {
  artifact_id: string | null
  benchmark?: string
  metric?: string
  value: number | string
  better?: boolean
  times?: number
}

test('a promotion shows the benchmark gains and losses of its model, and each revision its expected ones', async t => {
  t.timeout(patient(90_000))
  const forge = await startForge(t)
  const { run_id } = await createRun(forge)
  await until('the run is projected', 20_000, async () => {
    return (await forge.call('GET', `/api/runs/${run_id}`)).status === 200
  })
  await seed(forge.pool, run_id)
  const scored = (one: Scored) => score(forge.pool, run_id, one)
  await scored({ artifact_id: 'art_a', value: 0.5 })
  await scored({ artifact_id: 'art_b', value: 0.625, times: 3 })
  await scored({ artifact_id: 'art_a', metric: 'perplexity', value: 8, better: false })
  await scored({ artifact_id: 'art_b', metric: 'perplexity', value: 9, better: false })
  // NaN says nothing, and a score without a counterpart cannot be compared.
  await scored({ artifact_id: 'art_a', benchmark: 'mmlu', value: 'NaN' })
  await scored({ artifact_id: 'art_b', benchmark: 'mmlu', value: 0.4 })
  // Scores of the whole run: they stand for `art_c`, which has no measurements.
  await scored({ artifact_id: null, value: 0.25 })

  const free = { stderr: null, refuses: false }
  const gained = [
    { benchmark: 'gsm8k@1', task: null, metric: 'accuracy', from: 0.5, to: 0.625, delta: 0.125 },
    { benchmark: 'gsm8k@1', task: null, metric: 'perplexity', from: 8, to: 9, delta: 1 },
  ]
  const path = '/api/deployments/dep_s'
  const { body: promotions } = await forge.call<{ reason: string; benchmarks: Delta[] }[]>(
    'GET',
    `${path}/promotions`,
  )
  t.deepEqual(
    promotions.map(({ reason, benchmarks }) => ({ reason, benchmarks })),
    [
      {
        reason: 'better',
        benchmarks: [
          { ...gained[0], ok: true, ...free },
          { ...gained[1], ok: false, ...free },
        ],
      } as never,
      { reason: 'first', benchmarks: [] },
    ],
  )
  const { body: revisions } = await forge.call<{ number: number; gates: Delta[] }[]>(
    'GET',
    `${path}/revisions`,
  )
  t.deepEqual(
    revisions.map(({ number, gates }) => [number, gates.map(({ delta, ok }) => [delta, ok])]),
    [
      [3, [[-0.375, false]]],
      [
        2,
        [
          [0.125, true],
          [1, false],
        ],
      ],
      [
        1,
        [
          [-0.125, false],
          [-1, true],
        ],
      ],
    ] as never,
    'compared with the promoted one; that one with its predecessor',
  )
})
