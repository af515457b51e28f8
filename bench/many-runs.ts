import { readFileSync, writeFileSync } from 'node:fs'
import { metricBlockType } from '../schemas/metric-block.ts'
import { metricBlock } from '../test/metrics/metric-block.ts'
import { askApi } from '../test/servers/api.ts'
import { until } from '../test/servers/until.ts'
import type { Target } from './chart.ts'
import { createRuns, type ExternalRun } from './rig/api.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type ManyRunsReport = {
  runs: number
  points: number
  /** One chart of each run, all asked for at once: milliseconds until the last one is there. */
  together: Spread
  /** All points of one run with as many. */
  exported: { format: string; seconds: number; megabytes: number; grownMb: number }[]
}

const runs = 20
const points = 1_000_000
const buckets = 1_000
const keys = ['train/loss', 'train/accuracy', 'train/lr', 'val/loss', 'val/accuracy']
const rowsPerBlock = 2_000
const storedWithinMs = 300_000
const times = 20

/** A million points in twenty runs as charts, and a million of one run as an export. */
export async function measureManyRuns(target: Target, pid: number): Promise<ManyRunsReport> {
  const created = await createRuns(target.url, target.token, 'many', runs + 1)
  const [large, ...others] = created
  if (!large) throw new Error('no run to report to')
  await Promise.all([
    fill(target, large, points),
    ...others.map(run => fill(target, run, points / runs)),
  ])
  const together = await timeEach(times, () => Promise.all(others.map(run => chart(target, run))))
  const exported: ManyRunsReport['exported'] = []
  for (const format of ['csv', 'jsonl'])
    exported.push(await measureExport(target, large, format, pid))
  return { runs, points, together, exported }
}

async function fill({ url, token }: Target, run: ExternalRun, count: number): Promise<void> {
  const rows = count / keys.length
  for (let first = 0; first < rows; first += rowsPerBlock) {
    const block = metricBlock(run.run_id, [{ keys, rows: rowsFrom(first) }])
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
    return found.reduce((sum, key) => sum + key.count, 0) === count
  })
}

const rowsFrom = (first: number) =>
  Array.from({ length: rowsPerBlock }, (_, index) => {
    const step = first + index
    const values = keys.map(() => 2 / Math.sqrt(step + 1) + Math.random() * 0.1)
    return { step, ts: 1_790_000_000_000 + step * 173 + (step % 7), values }
  })

/** All keys of a run, as its page asks for them. */
const chart = ({ url, token }: Target, { run_id }: ExternalRun) => {
  const asked = encodeURIComponent(keys.join(','))
  return askApi(url, 'GET', `/api/runs/${run_id}/metrics?keys=${asked}&buckets=${buckets}`, {
    token,
  })
}

async function measureExport(
  { url, token }: Target,
  { run_id }: ExternalRun,
  format: string,
  pid: number,
) {
  // Resets the peak.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = memoryMb(pid, 'VmRSS')
  const began = performance.now()
  const response = await fetch(`${url}/api/runs/${run_id}/metrics/export?format=${format}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  let [bytes, lines] = [0, 0]
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) lines++
  }
  if (lines < points) throw new Error(`${lines} lines of ${points} points, ${response.status}`)
  const seconds = (performance.now() - began) / 1000
  return { format, seconds, megabytes: bytes / 1e6, grownMb: memoryMb(pid, 'VmHWM') - before }
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}
