import { type Route, route } from '../../auth/route.ts'
import { type BenchmarkResult, benchmarksAt } from '../../events/benchmarks.ts'
import { digestOf } from '../../platform/digest.ts'
import {
  type BenchmarkInput,
  benchmarkInput,
  benchmarkReply,
  maxBenchmarkBodyBytes,
} from '../../schemas/benchmarks/results.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'
import { isSecret, mask } from '../rules/secrets.ts'
import { recordBenchmark } from './decide.ts'

export const benchmarkRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/ingest/benchmark',
    credential: 'ingest',
    tag: 'ingest',
    summary: 'Report scores of a benchmark, also after the end of the run',
    body: benchmarkInput,
    bodyLimitBytes: maxBenchmarkBodyBytes,
    response: benchmarkReply,
    refusals: ['forbidden', 'conflict', 'too_large'],
    async handle(request) {
      await deps.reports.admit(request, { atAnyTime: true })
      const result = toResult(request.body)
      await commit(deps, request, benchmarksAt(result.run_id), {
        decide: benchmarks => recordBenchmark(benchmarks, result),
      })
      return { ok: true, result_id: result.result_id, inserted: result.scores.length }
    },
  }),
]

function toResult(body: BenchmarkInput): BenchmarkResult {
  const { run_id, benchmark } = body
  const measured = {
    benchmark,
    version: body.version ?? null,
    task: body.task ?? null,
    split: body.split ?? null,
    step: body.step ?? null,
    artifact_id: body.artifact_id ?? null,
    config: withoutSecrets(body.config ?? {}),
  }
  const said = {
    model: body.model ?? null,
    harness: body.harness ?? null,
    scores: scoresOf(body),
    samples_uri: body.samples_uri ?? null,
    started_at: body.started_at ?? null,
    ended_at: body.ended_at ?? null,
  }
  // An artifact belongs to one step, whether or not the report names it.
  const { step, ...rest } = measured
  const identity = measured.artifact_id === null ? measured : rest
  return {
    run_id,
    result_id: `bmr_${digestOf({ run_id, ...identity }).slice('sha256:'.length, 39)}`,
    digest: digestOf({ ...measured, ...said }),
    ...measured,
    ...said,
  }
}

/** If a metric has several scores, the last one wins. */
function scoresOf({ scores }: BenchmarkInput): BenchmarkResult['scores'] {
  const byMetric = new Map(scores.map(score => [score.metric, score]))
  return [...byMetric.values()].map(({ metric, value, stderr, n, higher_is_better }) => ({
    metric,
    value,
    stderr: stderr ?? null,
    n: n ?? null,
    higher_is_better: higher_is_better ?? null,
  }))
}

const withoutSecrets = (config: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      name,
      typeof value === 'string' && isSecret(name, value) ? mask : value,
    ]),
  )
