import { setTimeout as pause } from 'node:timers/promises'
import type { TrafficRow, TrafficSummary } from '../../../schemas/traffic.ts'
import type { Api, Query } from '../api/client.ts'
import { firstRows } from '../api/every-page.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { countOf, sayMore } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { amount, duration, size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findDeployment, oneDeployment, pathOfDeployment } from './find.ts'

type TrafficOptions = CommonOptions &
  Texts<'token' | 'from' | 'to'> &
  Flags<'summary' | 'follow'> & { limit: string }

export const describeDeployTraffic = describe({
  text: 'the requests to a deployment, the newest last, or a summary of them',
  operands: oneDeployment,
  options: {
    '--token <id>': 'only the requests of this token',
    '--from <time>': 'from this time on, e.g. 2026-11-20T12:00:00Z',
    '--to <time>': 'before this time',
    '-l, --limit <count>': ['at most this many of the newest', '500'],
    '-s, --summary': 'counts, latencies and errors by token',
    '-f, --follow': 'keep printing new ones until interrupted',
  },
})

export async function deployTraffic(
  world: World,
  named: string,
  { token, from, to, summary, follow, limit: most, ...options }: TrafficOptions,
): Promise<ExitCode> {
  const limit = countOf(most)
  const session = await openSignedIn(world, options)
  const { api, terminal, isJson } = session
  const { deployment_id } = await findDeployment(api, named)
  const path = `${pathOfDeployment(deployment_id)}/traffic`
  if (summary) {
    const query = { from, to, by: 'token' }
    const found = await api.get<TrafficSummary>(`${path}/summary`, query)
    if (isJson) terminal.data(toJson(found))
    else say(terminal, found)
    return exitCode.ok
  }
  const query = { token_id: token, from, to }
  const { rows, isMore } = await firstRows<TrafficRow>(api, path, { ...query, limit })
  // A request that was recorded meanwhile moves the others to later pages.
  const seen = new Map(rows.map(row => [row.request_id, row]))
  show(terminal, [...seen.values()].reverse(), { isJson, titles: true })
  if (seen.size === 0 && !isJson) terminal.note('There were no requests in this time')
  if (isMore) sayMore(session, seen.size, '--limit N and --from TIME show more')
  const known = new Set(seen.keys())
  while (follow) {
    await pause(pollMs)
    show(terminal, await newRows(api, path, { query, seen: known }), { isJson, titles: false })
  }
  return exitCode.ok
}

const pollMs = 1_000
const rowsAtOnce = 500
/** How many ids are remembered, so that a row that was recorded late is shown, and none twice. */
const remembered = 5_000

async function newRows(
  api: Api,
  path: string,
  { query, seen }: { query: Query; seen: Set<string> },
): Promise<TrafficRow[]> {
  const rows = await api.get<TrafficRow[]>(path, { ...query, limit: rowsAtOnce })
  const fresh = rows.filter(row => !seen.has(row.request_id)).reverse()
  for (const { request_id } of fresh) seen.add(request_id)
  for (const id of seen) {
    if (seen.size <= remembered) break
    seen.delete(id)
  }
  return fresh
}

function show(
  terminal: Terminal,
  rows: readonly TrafficRow[],
  { isJson, titles }: { isJson: boolean; titles: boolean },
): void {
  if (isJson) for (const row of rows) terminal.data(toJson(row))
  else if (rows.length > 0) {
    const lines = table(rowColumns, rows, { width: terminal.columns() })
    for (const line of titles ? lines : lines.slice(1)) terminal.data(line)
  }
}

const ms = (value: number | null) => (value === null ? '-' : duration(value / 1000))
const rate = (value: number | null) => (value === null ? '-' : amount(value, 3))

const rowColumns: Column<TrafficRow>[] = [
  { title: 'TIME', cell: row => row.started_at.slice(0, 19) },
  { title: 'STATUS', cell: row => (row.status === 0 ? '-' : String(row.status)), align: 'right' },
  { title: 'WRONG', cell: row => row.error_source ?? '' },
  { title: 'PATH', cell: row => `${row.method} ${row.path}`, shrinks: true },
  { title: 'FIRST', cell: row => ms(row.ttft_ms), align: 'right' },
  { title: 'TOOK', cell: row => ms(row.duration_ms), align: 'right' },
  { title: 'IN', cell: row => String(row.prompt_tokens ?? '-'), align: 'right', drops: true },
  { title: 'OUT', cell: row => String(row.completion_tokens ?? '-'), align: 'right', drops: true },
  { title: 'BYTES', cell: row => size(row.response_bytes), align: 'right', drops: true },
  { title: 'TOKEN', cell: row => row.token_id, drops: true },
]

function say(terminal: Terminal, found: TrafficSummary): void {
  const total = { ...found, key: 'all' }
  const rows = [...found.groups, total]
  for (const line of table(summaryColumns, rows, { width: terminal.columns() })) terminal.data(line)
}

const summaryColumns: Column<TrafficSummary['groups'][number]>[] = [
  { title: 'TOKEN', cell: row => row.key ?? '-', shrinks: true },
  { title: 'REQUESTS', cell: row => String(row.requests), align: 'right' },
  { title: 'ERRORS', cell: row => String(row.errors), align: 'right' },
  { title: 'IN', cell: row => String(row.prompt_tokens), align: 'right', drops: true },
  { title: 'OUT', cell: row => String(row.completion_tokens), align: 'right', drops: true },
  { title: 'TOK/S', cell: row => rate(row.tokens_per_s), align: 'right' },
  { title: 'FIRST P50', cell: row => ms(row.ttft_ms_p50), align: 'right' },
  { title: 'P95', cell: row => ms(row.ttft_ms_p95), align: 'right' },
  { title: 'TOOK P50', cell: row => ms(row.duration_ms_p50), align: 'right', drops: true },
  { title: 'P95', cell: row => ms(row.duration_ms_p95), align: 'right', drops: true },
]
