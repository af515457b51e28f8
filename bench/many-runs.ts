import { readFileSync, writeFileSync } from 'node:fs'
import { askApi } from '../test/servers/api.ts'
import type { Target } from './chart.ts'
import { createRuns, type ExternalRun } from './rig/api.ts'
import { fillRun } from './rig/fill-run.ts'
import type { Spread } from './rig/quantile.ts'
import { timeEach } from './rig/repeat.ts'

export type ManyRunsReport = {
  runs: number
  points: number
  /** One chart of each run, all requested at once: milliseconds until the last one arrives. */
  together: Spread
  /** All points of one run with the same number of points. */
  exported: { format: string; seconds: number; megabytes: number; grownMb: number }[]
}

const runs = 20
const points = 1_000_000
const buckets = 1_000
const keys = ['train/loss', 'train/accuracy', 'train/lr', 'val/loss', 'val/accuracy']
const times = 20

/** A million points in twenty runs as charts, and a million of one run as an export. */
export async function measureManyRuns(target: Target, pid: number): Promise<ManyRunsReport> {
  const created = await createRuns(target.url, target.token, 'many', runs + 1)
  const [large, ...others] = created
  if (!large) throw new Error('no run to report to')
  await Promise.all([
    fillRun(target, large, keys, points / keys.length),
    ...others.map(run => fillRun(target, run, keys, points / runs / keys.length)),
  ])
  const together = await timeEach(times, () => Promise.all(others.map(run => chart(target, run))))
  const exported: ManyRunsReport['exported'] = []
  for (const format of ['csv', 'jsonl'])
    exported.push(await measureExport(target, large, format, pid))
  return { runs, points, together, exported }
}

/** All keys of a run, as its page requests them. */
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
