import { type Command, InvalidArgumentError } from 'commander'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { instantMs } from '../terminal/amounts.ts'
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

type ListOptions = CommonOptions & {
  actor?: string
  type?: string
  target?: string
  request?: string
  since?: string
  until?: string
  limit: number
  offset: number
}

const wholeNumber = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('A whole number is expected.')
  return Number(text)
}

export const describeAuditList = (command: Command): Command =>
  command
    .description('who did what, newest first')
    .option('--actor <name>', 'e.g. alice, or with its kind: system:executor')
    .option('--type <type>', 'a type of event, or a family: job.*')
    .option('--target <target>', 'e.g. job:run_01J…, user:alice, rubric:alice/helpful')
    .option('--request <id>', 'what resulted from one request')
    .option('--since <time>', 'from then on: 90s, 5m, 2h, 1d ago, or an ISO time')
    .option('--until <time>', 'before then')
    .option('-l, --limit <count>', 'at most this many, up to 500', wholeNumber, 50)
    .option('--offset <count>', 'skip this many of the newest', wholeNumber, 0)

export async function auditList(world: World, options: ListOptions): Promise<ExitCode> {
  const { api, terminal, isJson, nowMs } = await openSignedIn(world, options)
  const { actor, type, target, limit, offset } = options
  const rows = await api.get<Entry[]>('/api/audit', {
    ...{ actor, type, target, request_id: options.request, limit, offset },
    since: instant('--since', options.since, nowMs()),
    until: instant('--until', options.until, nowMs()),
  })
  if (isJson) terminal.data(toJson(rows))
  else if (rows.length === 0) terminal.note('No matching events')
  else for (const line of lines(rows, terminal.columns())) terminal.data(line)
  return exitCode.ok
}

function lines(rows: readonly Entry[], width: number | null): string[] {
  const columns: Column<Entry>[] = [
    { title: 'AT', cell: row => row.at },
    { title: 'ACTOR', cell: ({ actor }) => oneLine(actor.id), shrinks: true },
    { title: 'BY', cell: ({ actor }) => oneLine(actor.via), shrinks: true, drops: true },
    { title: 'TYPE', cell: row => row.type },
    { title: 'WHAT', cell: row => oneLine(row.summary), shrinks: true },
  ]
  return table(columns, rows, { width })
}

function instant(option: string, text: string | undefined, nowMs: number): string | null {
  if (text === undefined) return null
  const ms = instantMs(text, nowMs)
  if (ms === null)
    throw usageFailure(
      `${option} ${text}: give 90s, 5m, 2h, 1d or a time like 2026-11-20T19:00:00+00:00`,
    )
  // An absolute time is sent as typed: without a fraction it covers the whole second.
  return /^\d{4}-/.test(text) ? text : new Date(ms).toISOString()
}

type StateOptions = CommonOptions & { at?: string }

export const describeAuditState = (command: Command): Command =>
  command
    .argument('<target>', 'e.g. job:run_01J…')
    .description('what something was at an instant, folded from its events')
    .option('--at <time>', '90s, 5m, 2h, 1d ago, or an ISO time; now by default')

export async function auditState(
  world: World,
  target: string,
  options: StateOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson, nowMs } = await openSignedIn(world, options)
  const at = instant('--at', options.at, nowMs())
  const answer = await api.get<State>('/api/audit/state', { target, at })
  terminal.data(isJson ? toJson(answer) : toJson(answer.state, 2))
  if (!isJson) terminal.note(`version ${answer.version} at ${answer.at}`)
  return exitCode.ok
}

type DiffOptions = CommonOptions & { from: string; to?: string }

export const describeAuditDiff = (command: Command): Command =>
  command
    .argument('<target>', 'e.g. quota:alice')
    .description('what changed in something between two instants, and by which events')
    .requiredOption('--from <time>', '90s, 5m, 2h, 1d ago, or an ISO time')
    .option('--to <time>', 'now by default')

export async function auditDiff(
  world: World,
  target: string,
  options: DiffOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson, nowMs } = await openSignedIn(world, options)
  const from = instant('--from', options.from, nowMs())
  const to = instant('--to', options.to ?? '0s', nowMs())
  const diff = await api.get<Diff>('/api/audit/diff', { target, from, to })
  if (isJson) terminal.data(toJson(diff))
  else for (const line of diffLines(diff, terminal.columns())) terminal.data(line)
  return exitCode.ok
}

function diffLines({ changes, events, event_count }: Diff, width: number | null): string[] {
  const told = changes.map(
    ({ path, from, to }) => `${oneLine(path)}: ${toJson(from)} → ${toJson(to)}`,
  )
  if (event_count === 0) return ['Nothing happened in between']
  const more = event_count > events.length ? [`… and ${event_count - events.length} more`] : []
  return [...told, '', ...lines(events, width), ...more]
}

type VerifyOptions = CommonOptions & { head?: string }

export const describeAuditVerify = (command: Command): Command =>
  command
    .description('check that every event is as it was recorded; ends with 1 where one is not')
    .option('--head <hash@position>', 'a head that was kept: the chain must still pass through it')

/** A million events take about 10 s. */
const verifyWithinMs = 3_600_000

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
  if (ok) return [`${checked} events are as they were recorded`, `head ${head ?? 'none'}`, ...late]
  return [
    `NOT as it was recorded: ${first_bad?.kind}, position ${first_bad?.position}`,
    String(first_bad?.detail),
    `${checked} events before it are sound`,
  ]
}
