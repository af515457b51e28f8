import { type Kysely, sql } from 'kysely'
import type { Person } from '../../auth/caller.ts'
import type { ChangeTables } from '../../projector/changes/table.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, readableProjects } from '../rules/access.ts'
import { newestChange } from '../rules/newest-change.ts'
import type { Feed } from '../sse/feed.ts'
import { rowFeed } from '../sse/row-feed.ts'
import { eofFrame } from '../sse/sse.ts'

const changesAtOnce = 500
export const endStates: readonly string[] = ['succeeded', 'failed', 'stopped', 'abandoned']

/** State changes and edits of these runs. With a single run, the feed ends when the run has ended. */
export const changesOfRuns = (db: Kysely<ChangeTables>, runIds: readonly string[]): Feed =>
  rowFeed({
    ...stateEvents,
    key: `changes of ${[...runIds].sort().join(',')}`,
    rowsAfter: after => readChanges(db, after, { column: 'run_id', among: runIds }),
    async endAfter(rows, last) {
      const [runId] = runIds
      if (runIds.length !== 1 || runId === undefined) return null
      const state = rows.at(-1)?.state ?? (await readState(db, runId, last))
      const ended = state !== null && endStates.includes(state)
      return ended ? eofFrame(last, { run_id: runId, state }) : null
    },
  })

/** State changes and edits of all runs a person may read. Never ends. */
export const changesFor = (reads: Reads<ChangeTables & AccessTables>, caller: Person): Feed =>
  rowFeed({
    ...stateEvents,
    key: `changes for ${caller.role} ${caller.username}`,
    async rowsAfter(after) {
      const db = reads.as(caller)
      const projects = await readableProjects(db, caller)
      const readable = { column: 'project', among: projects, owner: caller.username } as const
      return readChanges(db, after, readable)
    },
  })

type Row = {
  change: number
  run_id: string
  state: string
  state_reason: string | null
  at: Date
  /** What an edit changed; null for a change of state. */
  edit: object | null
}

const stateEvents = {
  wakes: { projections: ['decisions'], key: null },
  event: ({ edit }: Row) => (edit === null ? 'state' : 'edit'),
  atOnce: changesAtOnce,
  content({ run_id, state, state_reason, edit, ...row }: Row) {
    const at = toTimestamp(row.at)
    return edit === null ? { run_id, state, state_reason, at } : { run_id, ...edit, at }
  },
}

/** Rows whose `column` is in `among` (null: all), or which belong to this owner. */
type Selection = {
  column: 'run_id' | 'project'
  among: readonly string[] | null
  owner?: string
}

/** Changes after a cursor; `head` is the newest change as of before they were read. */
async function readChanges(
  db: Kysely<ChangeTables>,
  after: number,
  { column, among, owner }: Selection,
): Promise<{ head: number; rows: Row[] }> {
  const head = await newestChange(db)
  if (after >= head) return { head, rows: [] }
  const rows = await db
    .selectFrom('state_changes')
    .select(['change', 'run_id', 'state', 'state_reason', 'at', 'edit'])
    .where('change', '>', after)
    .where('change', '<=', head)
    .where(
      sql<boolean>`not exists (
        select from runs r where r.run_id = state_changes.run_id and r.deleted_at is not null)`,
    )
    .$if(among !== null, query =>
      query.where(eb =>
        eb.or([
          sql<boolean>`${eb.ref(column)} = any(${among})`,
          ...(owner === undefined ? [] : [eb('owner', '=', owner)]),
        ]),
      ),
    )
    .orderBy('change')
    .limit(changesAtOnce)
    .execute()
  return { head, rows }
}

async function readState(
  db: Kysely<ChangeTables>,
  runId: string,
  upTo: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('state_changes')
    .select('state')
    .where('run_id', '=', runId)
    .where('change', '<=', upTo)
    .orderBy('change', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.state ?? null
}
