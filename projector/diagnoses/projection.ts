import { sql } from 'kysely'
import type { DiagnosisEvent } from '../../events/diagnoses.ts'
import type { Handlers } from '../projection.ts'
import type { DiagnosisTables } from './table.ts'

export const diagnosisProjection: Handlers<DiagnosisTables, DiagnosisEvent> = {
  'diagnosis.requested': async (tx, { data, occurred_at }) => {
    const { diagnosis_id, run_id, attempt, trigger, requested_by } = data
    await tx
      .updateTable('diagnoses')
      .set({ status: 'superseded' })
      .where('run_id', '=', run_id)
      .where('diagnosis_id', '<>', diagnosis_id)
      .where('status', '<>', 'superseded')
      .execute()
    await tx
      .insertInto('diagnoses')
      .values({
        ...{ diagnosis_id, run_id, attempt, trigger, requested_by },
        status: 'pending',
        created_at: occurred_at,
        started_at: null,
        finished_at: null,
        verdict: null,
        fingerprint: null,
        analyzer: null,
        error: null,
        comments: '[]',
      })
      .execute()
  },
  'diagnosis.completed': (tx, { data, occurred_at }) => {
    const { diagnosis_id, started_at, verdict, analyzer, error } = data
    return tx
      .updateTable('diagnoses')
      .set({
        status: verdict === null ? 'failed' : 'succeeded',
        started_at,
        finished_at: occurred_at,
        verdict: verdict && JSON.stringify(verdict),
        fingerprint: verdict?.fingerprint ?? null,
        analyzer: JSON.stringify(analyzer),
        error,
      })
      .where('diagnosis_id', '=', diagnosis_id)
      .execute()
  },
  'diagnosis.commented': (tx, { data, occurred_at }) => {
    const { diagnosis_id, plugin, model, words } = data
    const comment = JSON.stringify([{ plugin, model, words, at: occurred_at }])
    return tx
      .updateTable('diagnoses')
      .set({ comments: sql`comments || ${comment}::jsonb` })
      .where('diagnosis_id', '=', diagnosis_id)
      .execute()
  },
}
