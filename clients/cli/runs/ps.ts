import { isEnded } from '../api/records.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import { sayMore } from '../program/list.ts'
import { pause } from '../program/pause.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { amount, duration, toNumber } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { openScreen } from '../terminal/screen.ts'
import { type Column, table } from '../terminal/table.ts'
import type { Paint } from '../terminal/terminal.ts'
import { truncate } from '../terminal/width.ts'
import { paintState } from './follow/view.ts'
import { type ListOptions, listRuns, type RunRow } from './list.ts'
import { searchOf } from './search.ts'
import { stepText } from './show.ts'

type PsOptions = CommonOptions & ListOptions & Flags<'watch' | 'quiet'>

export const describePs = describe({
  text: 'list runs, newest first, or search for them, e.g. state:failed "loss<1.2"',
  operands: {
    '[search...]':
      'conditions: words, state:, tag:, after:, metrics, hparams.NAME>1, label.NAME:TEXT',
  },
  options: {
    '-w, --watch': 'keep the list on the screen and up to date',
    '-q, --quiet': 'run ids only',
    '-a, --all': 'include runs that ended more than a day ago',
    '--starred': 'only runs with a star',
    '--archived': 'archived runs instead',
    '--deleted': 'deleted runs instead, which forge restore brings back',
    '-p, --project <name>': '',
    '-s, --state <state>': 'e.g. running, or running,queued',
    '-o, --owner <username>': '',
    '--sort <order>': 'of a search: a field, or metric:KEY:last|min|max; - before it descends',
    '-m, --metric <key>': 'the metric to show; a loss if there is one',
    '-l, --limit <count>': ['at most this many', '30'],
  },
})

export async function ps(world: World, words: string[], given: PsOptions): Promise<ExitCode> {
  const options = { ...given, search: words.length > 0 ? searchOf(words) : undefined }
  const session = await openSignedIn(world, options)
  const { terminal, isJson } = session
  if (options.watch && (isJson || !terminal.isLive))
    throw usageFailure('--watch needs a terminal to redraw')
  if (options.watch) return watchList(session, options)
  const { rows, isMore } = await listRuns(session, options)
  for (const line of listText(session, options, rows)) terminal.data(line)
  if (isMore) sayMore(session, rows.length)
  return exitCode.ok
}

function listText(session: Session, options: PsOptions, rows: readonly RunRow[]): string[] {
  if (session.isJson) return [toJson(rows)]
  if (options.quiet) return rows.map(row => row.run_id)
  if (rows.length > 0) return listLines(session, rows)
  const { search, project, state, owner, starred, archived } = options
  const isFiltered = [search, project, state, owner, starred, archived].some(Boolean)
  session.terminal.note(
    isFiltered
      ? 'No run matches'
      : 'No runs yet. Start one with forge submit, or with forge run -- CMD',
  )
  return []
}

function listLines({ terminal, nowMs }: Session, rows: readonly RunRow[]): string[] {
  const columns = columnsOf(terminal.paint, rows, nowMs())
  const shown = columns.filter(
    ({ title, cell }) => alwaysShown.test(title) || rows.some(row => cell(row) !== ''),
  )
  const paintTitle = (text: string) => terminal.paint('dim', text)
  return table(shown, rows, { width: terminal.columns(), paintTitle })
}

function columnsOf(paint: Paint, rows: readonly RunRow[], nowMs: number): Column<RunRow>[] {
  const keys = new Set(rows.flatMap(row => row.metric?.key ?? []))
  const [onlyKey] = keys
  const isOneMetric = keys.size === 1 && onlyKey !== undefined
  return [
    { title: 'RUN', cell: row => row.short_id },
    {
      title: 'STATE',
      cell: row => row.state,
      paint: (text, row) => paintState(paint, row.state, text),
    },
    { title: 'REASON', cell: reasonText, shrinks: true, drops: true },
    { title: 'NAME', cell: nameText, shrinks: true },
    { title: 'AGE', cell: row => age(row, nowMs), align: 'right' },
    { title: 'STEP', cell: stepsText, align: 'right' },
    isOneMetric
      ? { title: onlyKey, cell: row => valueText(row, false), align: 'right' }
      : { title: 'METRIC', cell: row => valueText(row, true), shrinks: true },
    { title: 'RUNNING', cell: row => runningText(row, nowMs), align: 'right' },
    { title: 'LEFT', cell: leftText, align: 'right' },
    { title: 'GPUS', cell: row => String(row.gpus ?? ''), align: 'right', drops: true },
    { title: 'RECIPE', cell: row => row.recipe ?? row.source, shrinks: true, drops: true },
    { title: 'OWNER', cell: row => row.owner, shrinks: true, drops: true },
  ]
}

const alwaysShown = /^(RUN|STATE|NAME|AGE|RUNNING|OWNER)$/

const nameText = ({ name, short_id, starred }: RunRow) =>
  starred ? `★ ${name ?? short_id}` : (name ?? '')

/** No reason is shown for success. */
const reasonText = ({ state, state_reason }: RunRow) =>
  state === 'succeeded' ? '' : (state_reason ?? '')

function runningText({ state, started_at, running_s }: RunRow, nowMs: number): string {
  if (started_at === null) return '-'
  if (isEnded(state)) return duration(running_s ?? 0)
  return duration(Math.max(0, (nowMs - Date.parse(started_at)) / 1000))
}

/** The time left of a run; for a waiting job only its start is estimated (`forge queue`). */
const leftText = ({ state, eta_s }: RunRow) =>
  eta_s === null || state === 'queued' || isEnded(state) ? '' : duration(eta_s)

const stepsText = ({ step, total_steps }: RunRow) =>
  step === null ? '' : stepText(step, total_steps)

/** Since the run was submitted, in its largest unit: `3d`. */
function age({ submitted_at }: RunRow, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(submitted_at)) / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

function valueText({ metric }: RunRow, withKey: boolean): string {
  if (metric === null) return ''
  return `${withKey ? `${metric.key} ` : ''}${amount(toNumber(metric.value))}`
}

const refreshMs = 1000

async function watchList(session: Session, options: PsOptions): Promise<ExitCode> {
  const { terminal, nowMs, process } = session
  const leaving = new AbortController()
  process.once('SIGINT', () => leaving.abort())
  const screen = openScreen(process.stdout, 'full')
  let lines: string[] = []
  let heldSince: number | null = null
  try {
    while (!leaving.signal.aborted) {
      let status = 'Ctrl-C leaves'
      try {
        lines = listLines(session, (await listRuns(session, options)).rows)
        heldSince = null
      } catch (error) {
        if (!(error instanceof Failure) || error.exitCode !== exitCode.unavailable) throw error
        heldSince ??= nowMs()
        status = `as of ${duration((nowMs() - heldSince) / 1000)} ago: ${error.message}`
      }
      const height = screen.height()
      const footer = terminal.paint('dim', truncate(status, screen.width()))
      screen.draw([...lines.slice(0, height - 1), footer])
      await pause(refreshMs, leaving.signal)
    }
  } finally {
    screen.close()
  }
  return exitCode.ok
}
