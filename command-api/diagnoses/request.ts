import type { Pool } from 'pg'
import type { DiagnosisRequested } from '../../events/diagnoses.ts'
import type { Transaction } from '../event-store.ts'

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
    `select r.run_id, r.short_id, r.project, r.owner, r.source,
            case r.source when 'job' then coalesce(
              (select (data ->> 'attempt')::integer from write.event
                where stream = 'job-' || r.run_id and type = 'job.scheduled'
                order by stream_version desc limit 1), 0) end as attempt
       from write.run_state r where r.run_id = $1`,
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
