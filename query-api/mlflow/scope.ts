import type { Context } from 'koa'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Person, RunCaller } from '../../auth/caller.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Series } from '../../platform/series/chunk.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { HparamTables } from '../../projector/hparams/table.ts'
import type { MetricTables } from '../../projector/metrics/table.ts'
import type { MlflowTables } from '../../projector/mlflow/table.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, findRun } from '../rules/access.ts'

export type Tables = AccessTables & ArtifactTables & HparamTables & MetricTables & MlflowTables
export type Db = Kysely<Tables>

export type MlflowReads = {
  reads: Reads<Tables>
  /** Connections to the schema `write`, to find the run of a token. */
  pool: Pool
  /** Responds with a stored file. */
  sendContent(ctx: Context, file: { sha256: string; filename: string }): Promise<void>
  /** Points of a key after a step; `end` is the last step that they cover. */
  readHistory(
    db: Db,
    runId: string,
    key: string,
    after: number,
  ): Promise<{ series: Series; end: number }>
}

export type MlflowCaller = Person | RunCaller

/** A run, readable by its token or by a person. */
export type RunInScope = { run_id: string; db: Db }

/** The requested run. Running code may only read its own run, with the rights of its owner. */
export async function runInScope(
  { reads, pool }: MlflowReads,
  caller: MlflowCaller,
  asked: string,
): Promise<RunInScope> {
  if (caller.kind === 'person') return findRun(reads, caller, asked)
  const run = await ownRun(pool, caller)
  if (asked !== run.run_id && asked !== run.short_id)
    throw new Refusal('forbidden', 'The ingest token belongs to a different run than run_id')
  return {
    run_id: run.run_id,
    db: reads.as({ username: run.owner, role: 'operator' }, [run.run_id]),
  }
}

export type OwnRun = { run_id: string; short_id: string | null; owner: string; project: string }

/** The run of a token; the read models may not have it yet. */
export async function ownRun(pool: Pool, { runId }: RunCaller): Promise<OwnRun> {
  const { rows } = await pool.query<OwnRun>({
    name: 'own_run',
    text: 'select run_id, short_id, owner, project from write.run_state where run_id = $1',
    values: [runId],
  })
  const [run] = rows
  if (!run) throw new Refusal('not_found', `No such run: ${runId}`)
  return run
}
