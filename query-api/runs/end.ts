import { type Kysely, type Selectable, sql } from 'kysely'
import type { DiagnosisTables } from '../../projector/diagnoses/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { whyFailed } from '../../schemas/why.ts'
import { type End, whyEnded } from '../../schemas/why-ended.ts'

type StoredRun = Selectable<RunTables['runs']>
type Tables = RunTables & DiagnosisTables

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
