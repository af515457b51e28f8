import { type Kysely, sql } from 'kysely'
import type { Static } from 'typebox'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { JobTables } from '../../projector/jobs/table.ts'
import type { RunTables } from '../../projector/runs/table.ts'
import { type lineage, lineageLimits } from '../../schemas/runs/lineage.ts'
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
  const producers: Producers = new Map()
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

/** The run that made an artifact, and whether the run was deleted. */
type Producer = { run_id: string; deleted: boolean }
type Producers = Map<string, Producer>

const oldestFirst = (a: Row, b: Row) =>
  a.created_at.getTime() - b.created_at.getTime() || (a.run_id < b.run_id ? -1 : 1)

const shown = ({ init_from, retry_of, clone_of, created_at, ...run }: Row) => ({
  ...run,
  created_at: toTimestamp(created_at),
})

/** The sources of this run. */
function edgesTo(
  { run_id: to, retry_of, clone_of, init_from }: Row,
  kept: ReadonlySet<string>,
  producers: Producers,
): Lineage['edges'] {
  const none = { artifact_id: null, artifact_deleted: false }
  const known = (id: string | undefined) => (id !== undefined && kept.has(id) ? id : null)
  return [
    ...(retry_of === null ? [] : [{ kind: 'retry' as const, from: known(retry_of), to, ...none }]),
    ...(clone_of === null ? [] : [{ kind: 'clone' as const, from: known(clone_of), to, ...none }]),
    ...init_from.map(artifact_id => ({
      kind: 'init_from' as const,
      from: known(producers.get(artifact_id)?.run_id),
      to,
      artifact_id,
      artifact_deleted: producers.get(artifact_id)?.deleted ?? false,
    })),
  ]
}

async function readRuns(db: Db, runIds: readonly string[]): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select ${columns} from readable_runs where run_id = any(${runIds})`.execute(db)
  return rows
}

/** Runs one step away. Records in `producers` which run made which artifact. */
async function neighbours(db: Db, runs: readonly Row[], producers: Producers): Promise<Row[]> {
  const runIds = runs.map(run => run.run_id)
  const begunFrom = runs.flatMap(run => run.init_from)
  const { rows: artifacts } = await sql<Producer & { artifact_id: string }>`
    select artifact_id, run_id, deleted_at is not null as deleted from artifacts
     where artifact_id = any(${begunFrom}) or run_id = any(${runIds})`.execute(db)
  for (const { artifact_id, ...made } of artifacts) producers.set(artifact_id, made)
  const earlier = [
    ...runs.flatMap(run => [run.retry_of ?? [], run.clone_of ?? []].flat()),
    ...begunFrom.flatMap(id => producers.get(id)?.run_id ?? []),
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
    .leftJoin('artifacts', 'artifacts.artifact_id', 'job_attempts.resume_from')
    .select(['job_attempts.attempt', 'resume_from', 'deleted_at'])
    .where('job_attempts.run_id', '=', runId)
    .orderBy('job_attempts.attempt')
    .execute()
  return rows.flatMap(({ attempt, resume_from, deleted_at }) =>
    resume_from === null
      ? []
      : [{ attempt, artifact_id: resume_from, artifact_deleted: deleted_at !== null }],
  )
}
