import type { Pool } from 'pg'
import type { DiagnosisRequested } from '../../events/diagnoses.ts'
import type { Transaction } from '../commit/event-store.ts'

/** The parts of a request that name the run. */
export type Subject = Pick<
  DiagnosisRequested,
  'run_id' | 'short_id' | 'project' | 'owner' | 'source'
>

/** Null if the run no longer exists. */
export async function subjectOf(
  db: Pool | Transaction,
  run_id: string,
): Promise<(Subject & { attempt: number | null }) | null> {
  const { rows } = await db.query<Subject & { attempt: number | null }>(
    `select r.id as run_id, coalesce(r.name, r.id) as short_id, r.project, r.owner,
            case when j.is_job then 'job' else 'external' end as source,
            case when j.is_job then coalesce(
              (select (data ->> 'attempt')::integer from write.event
                where stream = 'job-' || r.id and type = 'job.scheduled'
                order by stream_version desc limit 1), 0) end as attempt
       from write.resource r, lateral (
              select exists (select from write.event where stream = 'job-' || r.id and stream_version = 1) as is_job) j
      where r.kind = 'run' and r.id = $1`,
    [run_id],
  )
  return rows[0] ?? null
}

export async function newDiagnosisId(db: Pool): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `select nextval('write.diagnosis_number')::integer as id`,
  )
  const id = rows[0]?.id
  if (id === undefined) throw new Error('a sequence returned no number')
  return id
}
