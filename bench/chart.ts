import { askApi } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import { createRuns } from './rig/api.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type ChartReport = {
  points: number
  buckets: number
  /** Before compaction. */
  fresh: Spread
  /** After the run's points were compacted. */
  compacted: Spread
  /** A tenth of the steps, where the points themselves are read. */
  zoomed: Spread
}

export type Target = { url: string; token: string }

const points = 200_000
const buckets = 1_000
const perRequest = 10_000
const key = 'train/loss'
const times = 40
const appliedWithinMs = 120_000

/** A chart of 1000 buckets over 200,000 points: milliseconds per request. */
export async function measureChart({ url, token }: Target): Promise<ChartReport> {
  const [run] = await createRuns(url, token, 'chart', 1)
  if (!run) throw new Error('no run to draw')
  const chart = (query = '') =>
    askApi<{ points: unknown[] }[]>(
      url,
      'GET',
      `/api/runs/${run.run_id}/metrics?keys=${encodeURIComponent(key)}&buckets=${buckets}${query}`,
      { token },
    )
  for (let step = 0; step < points; step += perRequest)
    await askApi(url, 'POST', '/api/ingest/metrics', {
      token: run.token,
      body: { run_id: run.run_id, points: lossFrom(step) },
    })
  const stored = async () => {
    const keys = await askApi<{ key: string; count: number }[]>(
      url,
      'GET',
      `/api/runs/${run.run_id}/metrics/keys`,
      { token },
    )
    return keys[0]?.count ?? 0
  }
  await until('all points can be read', appliedWithinMs, async () => (await stored()) === points)
  const fresh = await timeEach(times, () => chart())
  await askApi(url, 'POST', '/api/ingest/lifecycle', {
    token: run.token,
    body: { run_id: run.run_id, event: 'succeeded', ts: new Date().toISOString() },
  })
  await untilSteady(() => timeEach(5, () => chart(), 0))
  return {
    points,
    buckets,
    fresh,
    compacted: await timeEach(times, () => chart()),
    zoomed: await timeEach(times, turn => {
      const from = (turn * 3_571) % (points * 0.9)
      return chart(`&from=${Math.floor(from)}&to=${Math.floor(from + points / 10)}`)
    }),
  }
}

/** Falling, noisy and irregular in time, so that it does not compress unrealistically well. */
function lossFrom(first: number) {
  return Array.from({ length: perRequest }, (_, index) => {
    const step = first + index
    const ts = new Date(1_790_000_000_000 + step * 173 + (step % 7)).toISOString()
    return { key, step, value: 2 / Math.sqrt(step + 1) + Math.random() * 0.1, ts }
  })
}

/** Repeats until two rounds agree: from outside, the end of compaction shows only in stable times. */
async function untilSteady(measure: () => Promise<Spread>): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  await until(
    'the points are compacted',
    appliedWithinMs,
    async () => {
      const { p50 } = await measure()
      const isSteady = Math.abs(p50 - before) < before * 0.1
      before = p50
      return isSteady
    },
    1_000,
  )
}
