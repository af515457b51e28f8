import type { ColumnType } from 'kysely'
import type { Diagnosis, Verdict } from '../../schemas/diagnoses.ts'

type MaybeInstant = ColumnType<Date | null, string | null, string | null>
/** `at` as the event has it. */
type Comment = Diagnosis['comments'][number]
type Json<T> = ColumnType<T | null, string | null, string | null>

export type DiagnosisTables = {
  diagnoses: Pick<
    Diagnosis,
    'diagnosis_id' | 'run_id' | 'attempt' | 'status' | 'trigger' | 'requested_by' | 'error'
  > & {
    created_at: ColumnType<Date, string, string>
    started_at: MaybeInstant
    finished_at: MaybeInstant
    verdict: Json<Verdict>
    fingerprint: string | null
    analyzer: Json<Diagnosis['analyzer']>
    /** Words of plugins, oldest first. */
    comments: ColumnType<Comment[], string, string>
  }
}
