import { type Kysely, type Selectable, sql } from 'kysely'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { isOfForge } from '../../schemas/logs.ts'
import { whyFailed } from '../../schemas/why.ts'

type StoredRun = Selectable<RunTables['runs']>
type Tables = RunTables & DiagnosisTables
export type End = Omit<RunTables['run_ends'], 'run_id'>
export type EndedRun = End & { state: StoredRun['state'] }

const unknown: End = { exit_code: null, signal: null, end_reason: null, message: null }

/** How a run ended; all null while it has not. */
export async function readEnd(
  db: Kysely<RunTables>,
  { run_id, ended_at }: Pick<StoredRun, 'run_id' | 'ended_at'>,
): Promise<End> {
  if (ended_at === null) return unknown
  const row = await db
    .selectFrom('run_ends')
    .select(['exit_code', 'signal', 'end_reason', 'message'])
    .where('run_id', '=', run_id)
    .executeTakeFirst()
  return row ?? unknown
}

const isWithoutSuccess = ({ state }: Pick<StoredRun, 'state'>): boolean =>
  state === 'failed' || state === 'stopped' || state === 'abandoned'

/** Why each of these runs ended without success; the others are left out. */
export async function readWhys(
  db: Kysely<Tables>,
  runs: readonly StoredRun[],
): Promise<Map<string, string | null>> {
  const ended = runs.filter(isWithoutSuccess)
  if (ended.length === 0) return new Map()
  const failed = ended.filter(({ state }) => state === 'failed').map(({ run_id }) => run_id)
  const found = await readTitles(db, failed)
  const rows = await db
    .selectFrom('run_ends')
    .select(['run_id', 'exit_code', 'signal', 'end_reason', 'message'])
    .where(sql<boolean>`run_id = any(${ended.map(({ run_id }) => run_id)})`)
    .execute()
  const ends = new Map(rows.map(({ run_id, ...end }) => [run_id, end]))
  return new Map(
    ended.map(({ run_id, state }) => {
      const why = whyEnded({ ...(ends.get(run_id) ?? unknown), state })
      return [run_id, whyFailed({ state, why }, found.get(run_id))]
    }),
  )
}

/** What the diagnoses of these runs found; a newer request supersedes an older diagnosis. */
async function readTitles(db: Kysely<Tables>, runIds: readonly string[]) {
  if (runIds.length === 0) return new Map<string, never>()
  const { rows } = await sql<{ run_id: string; title: string; category: string }>`
    select run_id, verdict ->> 'title' as title, verdict ->> 'category' as category
      from diagnoses where run_id = any(${runIds}) and status = 'succeeded'`.execute(db)
  return new Map(rows.map(({ run_id, ...found }) => [run_id, { status: 'succeeded', ...found }]))
}

/** Longer messages are truncated in `why` (characters); `message` has the full text. */
const maxDetail = 300

/** How the run ended, in one sentence; null if it has not ended, or succeeded. */
export function whyEnded(run: EndedRun): string | null {
  if (run.state === 'abandoned') return 'nothing was heard of it for a day'
  if (run.state !== 'failed' && run.state !== 'stopped') return null
  const parts = [endText(run), detailOf(run)]
  return parts.filter(part => part !== null).join(': ') || 'its code did not say why'
}

const wordsOfReason: Record<string, string> = {
  oom_killed: 'ran out of memory and was killed',
  disk_limit: 'took too much disk space',
  launch_error: 'could not be started',
  node_failure: 'was lost with its machine or its supervisor',
  max_pending: 'waited too long to start',
  user: 'somebody stopped it',
  limit: 'reached a limit',
}

const endText = ({ end_reason, exit_code, signal }: EndedRun): string | null => {
  const words = wordsOfReason[end_reason ?? '']
  if (words !== undefined) return words
  if (signal !== null) return `ended by ${signal}`
  return exit_code === null ? null : exitWords(exit_code)
}

/** The signals that most often end programs; shells report them as 128 plus the number. */
const signals: Record<number, string> = {
  129: 'SIGHUP',
  130: 'SIGINT',
  131: 'SIGQUIT',
  132: 'SIGILL',
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  141: 'SIGPIPE',
  143: 'SIGTERM',
}

const exitWords = (code: number): string =>
  signals[code] === undefined ? `exit code ${code}` : `exit code ${code} (${signals[code]})`

const saysTheExit = /^(exit code \d+|ended by SIG\w+)$/

/** The last line of the message, where programs name the exception; null if the reason above already says it. */
function detailOf({ end_reason, exit_code, message }: EndedRun): string | null {
  if (message === null || end_reason === 'exit_code' || end_reason === 'oom_killed') return null
  const last =
    message
      .trimEnd()
      .split('\n')
      .findLast(line => !isOfForge(line))
      ?.trim() ?? ''
  if (last === '' || (exit_code !== null && saysTheExit.test(last))) return null
  return last.length > maxDetail ? `${last.slice(0, maxDetail)}…` : last
}
