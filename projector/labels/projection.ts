import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { JobEvent } from '../../events/jobs.ts'
import type { MlflowEvent } from '../../events/mlflow.ts'
import { isLabel } from '../../schemas/mlflow.ts'
import type { Handlers } from '../projection.ts'
import type { LabelTables } from './table.ts'

type Tx = Kysely<LabelTables>
type LabelEvent = Extract<
  JobEvent | MlflowEvent,
  { type: 'job.admitted' | 'mlflow.tags_set' | 'mlflow.tag_deleted' }
>

/** Labels of runs: those of the JobSpec, and MLflow's tags, which replace labels of the same name. */
export const labelProjection: Handlers<LabelTables, LabelEvent> = {
  'job.admitted': (tx, { data: { run_id, spec } }) => setOfJob(tx, run_id, spec.metadata.labels),
  'mlflow.tags_set': (tx, { data: { run_id, tags } }) => setTags(tx, run_id, tags),
  'mlflow.tag_deleted': (tx, { data: { run_id, key } }) => dropTag(tx, run_id, key),
}

type Labels = Readonly<Record<string, string>>

const setOfJob = (tx: Tx, runId: string, labels: Labels) =>
  insertLabels(tx, runId, Object.entries(labels), sql`given.value`)

const setTags = (tx: Tx, runId: string, tags: Labels) =>
  insertLabels(
    tx,
    runId,
    Object.entries(tags).filter(([key]) => isLabel(key)),
    sql`null`,
  )

/** One statement, whatever the number of labels, so it stays prepared. */
async function insertLabels(
  tx: Tx,
  runId: string,
  labels: readonly (readonly [string, string])[],
  ofJob: RawBuilder<unknown>,
): Promise<void> {
  if (labels.length === 0) return
  const [keys, values] = [labels.map(([key]) => key), labels.map(([, value]) => value)]
  await sql`
    insert into run_labels (run_id, key, value, of_job)
    select ${runId}, key, value, ${ofJob} from unnest(${keys}::text[], ${values}::text[]) as given (key, value)
        on conflict (run_id, key) do update set value = excluded.value`.execute(tx)
}

/** The label of the JobSpec counts again, if there is one. */
async function dropTag(tx: Tx, run_id: string, key: string): Promise<void> {
  const label = sql<boolean>`run_id = ${run_id} and key = ${key}`
  await sql`delete from run_labels where ${label} and of_job is null`.execute(tx)
  await sql`update run_labels set value = of_job where ${label}`.execute(tx)
}
