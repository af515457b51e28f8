import type { Api } from '../../api/client.ts'
import { chanceOf } from './chance.ts'
import type { PlannedRun } from './plan.ts'

type Created = { run_id: string; short_id: string; token: string }

/** Calls the routes for running code with the token of a run. */
export type Report = (route: string, body: object) => Promise<unknown>

export type Sent = { runId: string; shortId: string; report: Report }

/** Makes a run as its owner and reports all of it. `connect` returns a client that bears a token. */
export async function sendRun(
  api: Api,
  plan: PlannedRun,
  connect: (token: string) => Api,
): Promise<Sent> {
  const { project, name, tags } = plan
  const created = await api.post<Created>('/api/runs', { project, name, tags }, { creates: true })
  const own = connect(created.token)
  const report: Report = (route, body) =>
    own.post(`/api/ingest/${route}`, { run_id: created.run_id, ...body })
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: plan.hparams })
  for (const points of inParts(plan.points, 5_000)) await report('metrics', { points })
  for (const stream of ['stdout', 'stderr'] as const) {
    const chunks = plan.lines.filter(line => line.stream === stream).map(({ text }) => text)
    for (const part of inParts(chunks, 2_000)) await report('logs', { stream, chunks: part })
  }
  for (const { step, samples } of plan.rounds) await report('validation', { step, samples })
  for (const score of scoresOf(plan)) await report('benchmark', score)
  for (const points of inParts(hardwareOf(plan), 1_500)) await report('hardware', { points })
  for (const step of plan.checkpoints)
    await report('artifact', {
      kind: 'checkpoint',
      path: `s3://demo/${plan.project}/${created.short_id}/step-${step}.safetensors`,
      format: 'safetensors',
      step,
      size_bytes: 500_000_000 + step * 1_000,
    })
  await report('environment', environmentOf(plan))
  if (plan.end) await report('lifecycle', plan.end)
  return { runId: created.run_id, shortId: created.short_id, report }
}

/** How many of the sums of each round were right, as a score of the benchmark that `defineBenchmark` adds. */
function scoresOf({ rounds, name }: PlannedRun): object[] {
  return rounds.map(({ step, samples }) => {
    const n = samples.length
    const right = samples.filter(({ reward }) => Number(reward) > 0.5).length
    const value = right / n
    const stderr = Math.sqrt((value * (1 - value)) / n)
    const scores = [{ metric: 'exact_match', value, stderr, n }]
    return { benchmark: 'sums', version: '1', split: 'test', step, model: name, scores }
  })
}

/** The benchmark of the demonstration; unchanged if an earlier one defined it. */
export const defineBenchmark = (api: Api): Promise<unknown> =>
  api.put('/api/benchmarks/sums', {
    ...{ metric: 'exact_match', split: 'test' },
    description: 'Sums of two numbers, right or wrong.',
  })

function* inParts<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

const minutes = 90

/** A reading a minute of each GPU up to now; one of eight sleeps through the second half. */
function hardwareOf({ gpus }: PlannedRun): object[] {
  const chance = chanceOf(gpus)
  const now = Date.now()
  return Array.from({ length: gpus * minutes }, (_, nth) => {
    const [index, minute] = [nth % gpus, Math.floor(nth / gpus)]
    const isAsleep = gpus === 8 && index === 5 && minute > minutes / 2
    return {
      ts: new Date(now - (minutes - minute) * 60_000).toISOString(),
      scope: 'gpu',
      index,
      util_pct: isAsleep ? 1 : Math.min(100, Math.max(0, 92 + 4 * chance.normal())),
      mem_used_bytes: 61e9 + minute * 5e7,
      mem_total_bytes: 80e9,
      power_w: isAsleep ? 110 : 640 + 20 * chance.normal(),
      temp_c: isAsleep ? 38 : 64 + index,
    }
  })
}

const environmentOf = ({ hparams }: PlannedRun) => ({
  python: '3.12.11',
  torch: '2.9.0',
  cuda_version: '12.8',
  packages: {
    torch: '2.9.0',
    numpy: '2.3.4',
    transformers: hparams.bf16 ? '4.57.1' : '4.56.2',
  },
  git: { commit: '3f9d2c81', branch: 'main', dirty: false },
})
