import { type Api, type Query, segment, withQuery } from '../api/client.ts'
import type { EofFrame, LogLine, RunRecord } from '../api/records.ts'
import { followStream } from '../api/streams.ts'
import { describe, oneRun } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import { drained } from '../program/output.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { instantMs } from '../terminal/amounts.ts'
import { harmless, harmlessInColour, toJson } from '../terminal/harmless.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { lastVersion } from '../terminal/width.ts'
import { attachCommands } from './follow/follow.ts'
import { findRun, type Run } from './follow/run-events.ts'
import { paintState } from './follow/view.ts'
import { marked } from './marked.ts'

export type LogsOptions = CommonOptions &
  Texts<'since' | 'grep' | 'regex' | 'around' | 'tail' | 'node' | 'rank' | 'stream'> &
  Flags<'follow' | 'timestamps' | 'controls' | 'raw'>

const pageLines = 500
/** `shownText` makes lines harmless, which may keep their colours. */
const exact = { isExact: true }

export const logOptions = {
  '-f, --follow': 'continue until the run has ended; the exit code says how',
  '--since <time>': 'from then on: 90s, 5m, 2h, 1d ago, or an ISO time',
  '--grep <text>': 'lines that contain this text',
  '--regex <pattern>': 'lines in which this pattern (RE2) is found, e.g. (?i)error',
  '--around <count>': 'this many lines before and after each match',
  '--tail <count>': 'start this many lines before the end',
  '-t, --timestamps': 'put the time before each line',
  '--node <name>': '',
  '--rank <number>': '',
  '--stream <name>': 'stdout or stderr',
  '--controls': 'keep the terminal controls in the stored lines',
  '--raw': { text: 'the earlier name of --controls', isHidden: true },
}

export const describeLogs = describe({
  text: 'print the log of a run',
  operands: oneRun,
  options: logOptions,
})

export async function logs(world: World, id: string, options: LogsOptions): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const sinceMs = sinceOf(options.since, session.nowMs())
  for (const flag of ['tail', 'rank', 'around'] as const) {
    const text = options[flag]
    if (text !== undefined && !/^\d{1,7}$/.test(text))
      throw usageFailure(`--${flag} ${text}: give a whole number`)
  }
  const isSearch = options.grep !== undefined || options.regex !== undefined
  if (options.around !== undefined && (!isSearch || options.follow))
    throw usageFailure('--around belongs to --grep or --regex, without --follow')
  if (options.regex !== undefined && options.follow)
    throw usageFailure('--regex searches existing lines; with --follow use --grep')
  const run = await findRun(session.api, id)
  const isWanted = (line: LogLine) =>
    line.ts >= sinceMs &&
    (options.grep === undefined ||
      options.around !== undefined ||
      line.text.includes(options.grep)) &&
    (options.node === undefined || line.node === options.node) &&
    (options.rank === undefined || line.rank === Number(options.rank)) &&
    (options.stream === undefined || line.stream === options.stream)
  const print = (line: LogLine) => {
    if (isWanted(line))
      session.terminal[keepsControls(options) ? 'raw' : 'data'](lineText(line, session, options))
  }
  if (options.follow) return followLog(session, run, options, print)
  for await (const line of storedLines(session.api, run, options)) {
    print(line)
    await drained(session.process.stdout)
  }
  return exitCode.ok
}

function sinceOf(text: string | undefined, nowMs: number): number {
  if (text === undefined) return Number.NEGATIVE_INFINITY
  const at = instantMs(text, nowMs)
  if (at === null)
    throw usageFailure(
      `--since ${text}: give 90s, 5m, 2h, 1d or a time like 2026-11-20T19:00:00+00:00`,
    )
  return at
}

const keepsControls = ({ controls, raw }: LogsOptions) => controls || raw

function lineText(line: LogLine, { isJson, terminal }: Session, options: LogsOptions): string {
  if (isJson) return toJson(line)
  if (keepsControls(options)) return line.text
  const isOneRank = options.rank !== undefined
  const text = shownText(isOneRank ? line.text : marked(line), terminal)
  return options.timestamps
    ? `${terminal.paint('dim', new Date(line.ts).toISOString())}  ${text}`
    : text
}

/** Colours stay where this command line uses colours, too; nothing else may steer the terminal. */
function shownText(text: string, { paint }: Terminal): string {
  const last = lastVersion(text)
  if (paint('dim', 'x') === 'x') return harmless(last)
  const coloured = harmlessInColour(last)
  return coloured.includes('\u001b') ? `${coloured}\u001b[0m` : coloured
}

async function* storedLines(api: Api, run: Run, options: LogsOptions): AsyncGenerator<LogLine> {
  const path = `/api/runs/${segment(run.run_id)}/logs`
  const { grep, regex, around, node, rank, stream } = options
  const filter = { grep, regex, context: around, node, rank, stream }
  if (options.tail !== undefined) {
    yield* await lastLines(api, path, filter, Number(options.tail))
    return
  }
  for (let after: number | null = 0; after !== null; ) {
    const { lines, next } = await readLogPage(api, path, { after, limit: pageLines, ...filter })
    yield* lines
    // Never read the same page twice, even if the server says so.
    after = next === null || next <= after ? null : next
  }
}

/** A page, and where the next one begins: the server scans a fixed number of lines at once, matching or not. */
async function readLogPage(api: Api, path: string, query: Query) {
  let next: number | null = null
  const onLink = (link: string | null) => {
    const found = /[?&](?:after|before)=(\d+)[^>]*>/.exec(link ?? '')?.[1]
    next = found === undefined ? null : Number(found)
  }
  const lines = await api.get<LogLine[]>(path, query, { ...exact, onLink })
  return { lines, next: next as number | null }
}

/** Reads pages backwards from the end. */
async function lastLines(
  api: Api,
  path: string,
  filter: Record<string, string | undefined>,
  wanted: number,
): Promise<LogLine[]> {
  let lines: LogLine[] = []
  let before: number | null = Number.MAX_SAFE_INTEGER
  while (before !== null && lines.length < wanted) {
    const limit = Math.min(pageLines, wanted - lines.length)
    const page = await readLogPage(api, path, { before, limit, ...filter })
    lines = [...page.lines, ...lines]
    before = page.next === null || page.next >= before ? null : page.next
  }
  return lines
}

async function followLog(
  session: Session,
  run: Run,
  options: LogsOptions,
  print: (line: LogLine) => void,
): Promise<ExitCode> {
  const { api, terminal, process } = session
  const leaving = new AbortController()
  process.once('SIGINT', () => leaving.abort())
  const path = withQuery(`/api/jobs/${segment(run.run_id)}/logs/stream`, { tail: options.tail })
  const open = (lastEventId: string | null, signal: AbortSignal) =>
    api.open(path, lastEventId === null ? {} : { 'last-event-id': lastEventId }, signal)
  for await (const event of followStream({ open, signal: leaving.signal })) {
    if (event.event === 'log') print(JSON.parse(event.data) as LogLine)
    await drained(process.stdout)
    if (event.event === 'eof') return sayEnd(session, run, JSON.parse(event.data) as EofFrame)
  }
  terminal.note(`\n${run.short_id} continues. To come back: ${attachCommands(run.short_id)}`)
  return exitCode.interrupted
}

async function sayEnd(session: Session, run: Run, { state }: EofFrame): Promise<ExitCode> {
  const { terminal, isJson } = session
  const why = await whyEnded(session, run)
  if (isJson) terminal.data(toJson({ type: 'eof', run_id: run.run_id, state, why }))
  const because = why === null ? '' : `: ${why}`
  terminal.note(`${run.short_id} ${paintState(terminal.paintNote, state, state)}${because}`)
  return state === 'succeeded' ? exitCode.ok : exitCode.jobFailed
}

/** Null for a run that succeeded or whose record cannot be read: the state is known anyway. */
async function whyEnded({ api }: Session, { run_id }: Run): Promise<string | null> {
  try {
    return (await api.get<RunRecord>(`/api/runs/${segment(run_id)}`)).why
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
