import { describe, wholeNumber } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { instant } from '../program/instant.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'
import { oneLine } from '../terminal/width.ts'

type Entry = {
  position: number
  type: string
  target: { type: string; id: string }
  actor: { type: string; id: string; via: string }
  at: string
  request_id: string
  summary: string
}
type State = { target: string; at: string; version: number; state: unknown }
type Diff = {
  from: string
  to: string
  changes: { path: string; from: unknown; to: unknown }[]
  event_count: number
  events: Entry[]
}
type Verdict = {
  ok: boolean
  checked: number
  first_bad: { kind: string; position: number; detail: string } | null
  head: string | null
  waiting: number
}

type ListOptions = CommonOptions &
  Texts<'actor' | 'type' | 'target' | 'request' | 'since' | 'until'> & {
    limit: number
    offset: number
  }

const columns: readonly Column<Entry>[] = [
  { title: 'AT', cell: row => row.at },
  { title: 'ACTOR', cell: ({ actor }) => oneLine(actor.id), shrinks: true },
  { title: 'BY', cell: ({ actor }) => oneLine(actor.via), shrinks: true, drops: true },
  { title: 'TYPE', cell: row => row.type },
  { title: 'WHAT', cell: row => oneLine(row.summary), shrinks: true },
]

export const describeAuditList = describe({
  text: 'who did what, newest first',
  options: {
    '--actor <name>': 'e.g. alice, or with its kind: system:executor',
    '--type <type>': 'a type of event, or a family: job.*',
    '--target <target>': 'e.g. job:run_01J…, user:alice, rubric:alice/helpful',
    '--request <id>': 'what resulted from one request',
    '--since <time>': 'from then on: 90s, 5m, 2h, 1d ago, or an ISO time',
    '--until <time>': 'before then',
    '-l, --limit <count>': wholeNumber('at most this many', 50),
    '--offset <count>': wholeNumber('skip this many of the newest', 0),
  },
})

export const auditList = list<Entry, ListOptions>({
  path: '/api/audit',
  filters: ({ actor, type, target, request: request_id, since, until, ...page }, { nowMs }) => ({
    ...{ actor, type, target, request_id, limit: page.limit, offset: page.offset },
    since: instant('--since', since, nowMs()),
    until: instant('--until', until, nowMs()),
  }),
  shown: { columns, none: 'No matching events' },
})

type StateOptions = CommonOptions & Texts<'at'>

export const describeAuditState = describe({
  text: 'what something was at an instant, folded from its events',
  operands: { '<target>': 'e.g. job:run_01J…' },
  options: {
    '--at <time>': '90s, 5m, 2h, 1d ago, or an ISO time; now by default',
  },
})

export const auditState = request<State, StateOptions>({
  send: ({ api, nowMs }, options, target) => {
    const at = instant('--at', options.at, nowMs())
    return api.get<State>('/api/audit/state', { target, at })
  },
  data: ({ state }) => toJson(state, 2),
  note: ({ version, at }) => `version ${version} at ${at}`,
})

type DiffOptions = CommonOptions & Texts<'to'> & { from: string }

export const describeAuditDiff = describe({
  text: 'what changed in something between two instants, and by which events',
  operands: { '<target>': 'e.g. quota:alice' },
  options: {
    '--from <time>': { text: '90s, 5m, 2h, 1d ago, or an ISO time', isRequired: true },
    '--to <time>': 'now by default',
  },
})

export const auditDiff = request<Diff, DiffOptions>({
  send: ({ api, nowMs }, options, target) => {
    const from = instant('--from', options.from, nowMs())
    const to = instant('--to', options.to ?? '0s', nowMs())
    return api.get<Diff>('/api/audit/diff', { target, from, to })
  },
  data: (diff, { terminal }) => diffLines(diff, terminal.columns()),
})

function diffLines({ changes, events, event_count }: Diff, width: number | null): string[] {
  const changed = changes.map(
    ({ path, from, to }) => `${oneLine(path)}: ${toJson(from)} → ${toJson(to)}`,
  )
  if (event_count === 0) return ['Nothing happened in between']
  const more = event_count > events.length ? [`… and ${event_count - events.length} more`] : []
  return [...changed, '', ...table(columns, events, { width }), ...more]
}

type VerifyOptions = CommonOptions & Texts<'head'>

/** A million events take about 10 s. */
const verifyWithinMs = 3_600_000

export const describeAuditVerify = describe({
  text: 'check that no event was changed after it was recorded; exits with 1 otherwise',
  options: {
    '--head <hash@position>': 'a head that was kept: the chain must still pass through it',
  },
})

export async function auditVerify(world: World, options: VerifyOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = '/api/audit/verify'
  const query = { head: options.head }
  const verdict = await api.get<Verdict>(path, query, { withinMs: verifyWithinMs })
  if (isJson) terminal.data(toJson(verdict))
  else for (const line of verdictLines(verdict)) terminal.data(line)
  return verdict.ok ? exitCode.ok : exitCode.jobFailed
}

function verdictLines({ ok, checked, first_bad, head, waiting }: Verdict): string[] {
  const late = waiting === 0 ? [] : [`${waiting} events wait to be published and chained`]
  if (ok) return [`${checked} events are unchanged`, `head ${head ?? 'none'}`, ...late]
  return [
    `The record is NOT intact: ${first_bad?.kind}, position ${first_bad?.position}`,
    String(first_bad?.detail),
    `${checked} events before it are sound`,
  ]
}
