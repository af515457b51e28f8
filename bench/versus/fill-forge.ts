import { metricBlockType } from '../../schemas/metrics/block.ts'
import { metricBlock } from '../../test/metrics/metric-block.ts'
import { askApi } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { ExternalRun } from '../rig/api.ts'
import { keys, project, type Sample } from './data.ts'

type Target = { url: string; token: string }

/** Sends all runs by the API, and returns what the last one, which is live, reports with. */
export async function fillForge(target: Target, samples: readonly Sample[]): Promise<ExternalRun> {
  const { url, token } = target
  let last: ExternalRun | null = null
  for (const sample of samples) {
    const { project, name, tags } = sample
    const body = { project, name, tags }
    last = await askApi<ExternalRun>(url, 'POST', '/api/runs', { token, body })
    await sendRun(target, last, sample)
  }
  if (last === null) throw new Error('there is no run')
  const body = { name: 'classifier', project }
  await askApi(url, 'POST', '/api/models', { token, body })
  await until('all points can be read', 300_000, async () => {
    const rows = await askApi<{ counts: { points: number } }[]>(url, 'GET', '/api/runs?limit=500', {
      token,
    })
    return (
      rows.reduce((sum, { counts }) => sum + counts.points, 0) ===
      samples.reduce((sum, sample) => sum + stepsOf(sample) * keys.length, 0)
    )
  })
  return last
}

const stepsOf = (sample: Sample): number => sample.values[keys[0]]?.length ?? 0

async function sendRun({ url }: Target, run: ExternalRun, sample: Sample): Promise<void> {
  const report = (route: string, body: object) =>
    askApi(url, 'POST', `/api/ingest/${route}`, {
      token: run.token,
      body: { run_id: run.run_id, ...body },
    })
  await report('lifecycle', { event: 'running' })
  await report('hparams', { params: sample.hparams })
  const began = Date.now() - stepsOf(sample)
  const rows = Array.from({ length: stepsOf(sample) }, (_, step) => ({
    step,
    ts: began + step,
    values: keys.map(key => sample.values[key]?.[step] ?? Number.NaN),
  }))
  const response = await fetch(`${url}/api/ingest/metrics`, {
    method: 'POST',
    headers: { 'x-service-token': run.token, 'content-type': metricBlockType },
    body: new Uint8Array(metricBlock(run.run_id, [{ keys: [...keys], rows }])),
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  await report('artifact', {
    kind: 'checkpoint',
    path: `s3://sweep/${sample.name}/last.safetensors`,
    format: 'safetensors',
    step: stepsOf(sample),
    size_bytes: 500_000_000,
  })
  if (sample.lines.length > 0)
    await report('logs', { node: 'n0', rank: 0, stream: 'stderr', chunks: sample.lines })
  if (sample.end !== null)
    await report('lifecycle', {
      event: sample.end,
      ...(sample.end === 'failed' && { exit_code: 1, message: sample.lines.at(-1) }),
    })
}
