import { metricBlockType } from '../../schemas/metrics/block.ts'
import { metricBlock } from '../../test/metrics/metric-block.ts'
import { askApi } from '../../test/servers/api.ts'
import { until } from '../../test/servers/until.ts'
import type { ExternalRun } from './api.ts'

/** The most that one request may carry. */
const pointsPerBlock = 10_000
const storedWithinMs = 300_000

/** Reports `steps` values of each key, falling and noisy, and waits until they can be read. */
export async function fillRun(
  { url, token }: { url: string; token: string },
  run: ExternalRun,
  keys: readonly string[],
  steps: number,
): Promise<void> {
  const rowsPerBlock = Math.floor(pointsPerBlock / keys.length)
  for (let first = 0; first < steps; first += rowsPerBlock) {
    const rows = rowsFrom(first, Math.min(rowsPerBlock, steps - first), keys)
    const block = metricBlock(run.run_id, [{ keys: [...keys], rows }])
    const response = await fetch(`${url}/api/ingest/metrics`, {
      method: 'POST',
      headers: { 'x-service-token': run.token, 'content-type': metricBlockType },
      body: new Uint8Array(block),
    })
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  }
  await until('all points can be read', storedWithinMs, async () => {
    const path = `/api/runs/${run.run_id}/metrics/keys`
    const found = await askApi<{ count: number }[]>(url, 'GET', path, { token })
    return found.reduce((sum, key) => sum + key.count, 0) === steps * keys.length
  })
}

/** A falling, noisy curve, like a loss. */
export const noisyLoss = (step: number): number => 2 / Math.sqrt(step + 1) + Math.random() * 0.1

const rowsFrom = (first: number, count: number, keys: readonly string[]) =>
  Array.from({ length: count }, (_, index) => {
    const step = first + index
    const values = keys.map(() => noisyLoss(step))
    return { step, ts: 1_790_000_000_000 + step * 173 + (step % 7), values }
  })
