import { type Kysely, sql } from 'kysely'
import type { Static } from 'typebox'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { type lineage, lineageLimits } from '../../schemas/lineage.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'

type Db = Kysely<RunTables & ArtifactTables & JobTables>
type Lineage = Static<typeof lineage>

type Row = {
  run_id: string
  short_id: string
  name: string | null
  project: string
  owner: string
  state: Lineage['runs'][number]['state']
  created_at: Date
  datasets: string[]
  init_from: string[]
  retry_of: string | null
  clone_of: string | null
}

const columns = sql`run_id, short_id, name, project, owner, state, created_at, datasets, init_from, retry_of, clone_of`

/** Walks from run to run, a step in both directions at a time; only over runs that the session may read. */
export async function readLineage(db: Db, runId: string): Promise<Lineage> {
  const found = new Map<string, Row>()
  const producers = new Map<string, string>()
  let next = await readRuns(db, [runId])
  for (let step = 0; next.length > 0 && step <= lineageLimits.steps; step++) {
    for (const row of next) found.set(row.run_id, row)
    if (found.size > lineageLimits.runs) break
    next = (await neighbours(db, next, producers)).filter(row => !found.has(row.run_id))
  }
  const kept = [...found.values()].slice(0, lineageLimits.runs)
  return {
    run_id: runId,
    runs: kept.sort(oldestFirst).map(shown),
    edges: kept.flatMap(row => edgesTo(row, new Set(kept.map(one => one.run_id)), producers)),
    resumed: await readResumed(db, runId),
    truncated: next.length > 0 || kept.length < found.size,
  }
}

const oldestFirst = (a: Row, b: Row) =>
  a.created_at.getTime() - b.created_at.getTime() || (a.run_id < b.run_id ? -1 : 1)

const shown = ({ init_from, retry_of, clone_of, created_at, ...run }: Row) => ({
  ...run,
  created_at: toTimestamp(created_at),
})

/** What this run came from. */
function edgesTo(
  { run_id: to, retry_of, clone_of, init_from }: Row,
  kept: ReadonlySet<string>,
  producers: ReadonlyMap<string, string>,
): Lineage['edges'] {
  const known = (id: string | undefined) => (id !== undefined && kept.has(id) ? id : null)
  return [
    ...(retry_of === null
      ? []
      : [{ kind: 'retry' as const, from: known(retry_of), to, artifact_id: null }]),
    ...(clone_of === null
      ? []
      : [{ kind: 'clone' as const, from: known(clone_of), to, artifact_id: null }]),
    ...init_from.map(artifact_id => ({
      kind: 'init_from' as const,
      from: known(producers.get(artifact_id)),
      to,
      artifact_id,
    })),
  ]
}

async function readRuns(db: Db, runIds: readonly string[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select ${columns} from readable_runs where run_id = any(${runIds})`.execute(db)
  return rows
}

/** Runs one step away. Notes in `producers` which run made which artifact. */
async function neighbours(
  db: Db,
  runs: readonly Row[],
  producers: Map<string, string>,
): Promise<Row[]> {
  const runIds = runs.map(run => run.run_id)
  const begunFrom = runs.flatMap(run => run.init_from)
  const { rows: artifacts } = await sql<{ artifact_id: string; run_id: string }>`
    select artifact_id, run_id from artifacts
     where artifact_id = any(${begunFrom}) or run_id = any(${runIds})`.execute(db)
  for (const { artifact_id, run_id } of artifacts) producers.set(artifact_id, run_id)
  const earlier = [
    ...runs.flatMap(run => [run.retry_of ?? [], run.clone_of ?? []].flat()),
    ...begunFrom.flatMap(id => producers.get(id) ?? []),
  ]
  const made = artifacts.flatMap(one => (runIds.includes(one.run_id) ? one.artifact_id : []))
  const { rows: later } = await sql<Row>`
    select ${columns} from readable_runs
     where retry_of = any(${runIds}) or clone_of = any(${runIds}) or init_from && ${made}::text[]
     order by created_at, run_id limit ${lineageLimits.runs + 1}`.execute(db)
  const rows = [...(await readRuns(db, earlier)), ...later]
  return [...new Map(rows.map(row => [row.run_id, row])).values()]
}

async function readResumed(db: Db, runId: string): Promise<Lineage['resumed']> {
  const rows = await db
    .selectFrom('job_attempts')
    .select(['attempt', 'resume_from'])
    .where('run_id', '=', runId)
    .orderBy('attempt')
    .execute()
  return rows.flatMap(({ attempt, resume_from }) =>
    resume_from === null ? [] : [{ attempt, artifact_id: resume_from }],
  )
}
