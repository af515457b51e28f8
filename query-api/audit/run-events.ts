import { type Kysely, sql } from 'kysely'
import type { Route } from '../../auth/route.ts'
import type { ArtifactTables } from '../../projector/artifacts/table.ts'
import type { ValidationTables } from '../../projector/validation/table.ts'
import type { AuditRow } from '../../schemas/audit.ts'
import { type RunEvent, runEvent } from '../../schemas/runs/events.ts'
import { closed, pageQuery } from '../../schemas/shared.ts'
import { pagedList } from '../reading/list.ts'
import type { Reads } from '../reading/reads.ts'
import { type AccessTables, ofRun } from '../rules/access.ts'
import type { AuditPage } from './page.ts'
import type { StreamsQuery } from './streams.ts'

export type RunEventTables = AccessTables & ArtifactTables & ValidationTables

/** Reads events of streams, oldest first. */
type EventReader = { ofStreams(query: StreamsQuery): Promise<AuditPage> }

/** The audit of one run for its readers, without facts about other runs. */
export const runEventRoute = (reads: Reads<RunEventTables>, events: EventReader): Route =>
  pagedList({
    ...ofRun(reads),
    path: '/api/runs/{run_id}/events',
    tag: 'runs',
    summary: 'Who did what with a run, oldest first',
    query: closed(pageQuery),
    row: runEvent,
    async read({ run_id, db }, _, page) {
      const streams = await streamsOf(db, run_id)
      const { rows, counted } = await events.ofStreams({ streams, hidden, ...page })
      return { rows: rows.map(toRunEvent), counted, mayEndEarly: true }
    },
  })

/** Would reveal how many other runs refer to it. */
const hidden = ['run.purge_postponed']

/** The kinds that have one stream for each run, named after it. */
const kindsOfRun = [
  'job',
  'run',
  'hparams',
  'environment',
  'diagnosis',
  'alert',
  'benchmarks',
  'mlflow',
] as const
/** The newest artifacts and rounds of a run whose events are listed. */
const maxOfEach = 2_000

async function streamsOf(db: Kysely<RunEventTables>, runId: string): Promise<string[]> {
  const { rows } = await sql<{ stream: string }>`
    (select 'artifact-' || artifact_id as stream from artifacts where run_id = ${runId}
      order by artifact_id desc limit ${maxOfEach})
    union all
    (select distinct 'validation-' || run_id || '/' || step from validation_chunks
      where run_id = ${runId} order by 1 desc limit ${maxOfEach})`.execute(db)
  return [...kindsOfRun.map(kind => `${kind}-${runId}`), ...rows.map(({ stream }) => stream)]
}

const maxSummary = 1_000

export function toRunEvent({
  position,
  type,
  occurred_at,
  actor,
  summary,
  data,
}: AuditRow): RunEvent {
  return {
    position,
    type,
    at: occurred_at,
    actor: { type: actor.type, id: actor.id },
    summary:
      summary.length > maxSummary ? `${summary.slice(0, maxSummary).toWellFormed()}…` : summary,
    facts: factsOf(data),
  }
}

/** Fields that every event of the run repeats, and names without meaning outside the server. */
const unsaid = new Set(['run_id', 'short_id', 'upload_id', 'report_id'])

type Scalar = string | number | boolean | null

/** Values that fit on a line; larger ones, such as the JobSpec and hyperparameters, have routes of their own. */
function factsOf(data: AuditRow['data']): RunEvent['facts'] {
  const facts: RunEvent['facts'] = {}
  for (const [name, value] of Object.entries(data))
    if (!unsaid.has(name) && isSmall(value)) facts[name] = value
  return facts
}

const isSmall = (value: unknown): value is Scalar | Scalar[] =>
  Array.isArray(value) ? value.length <= 20 && value.every(isScalar) : isScalar(value)

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' ? value.length <= 200 : value === null || typeof value !== 'object'
