import type { Sample } from './sample.ts'
import { asked } from './send.ts'

/** Tests search responses for names of others' things, where a small number may mean anything. */
const distinctiveNumbers = `
  select setval('write.diagnosis_number', 710000017 + nextval('write.diagnosis_number') % 1000000)`

/** The diagnosis of a running run, and that of another run, which failed. */
export const diagnosisSample: Sample = {
  slice: 'diagnoses',
  async make({ ask, made, pool, send }) {
    const { run_id, project } = made.fields
    await pool.query(distinctiveNumbers)
    const { diagnosis_id } = await ask<{ diagnosis_id: number }>({
      method: 'POST',
      path: '/api/job/diagnose',
      body: { job_id: run_id },
    })
    const failed = await ask<{ run_id: string; token: string }>({
      method: 'POST',
      path: '/api/runs',
      body: { project },
    })
    await asked(send, failed, {
      method: 'POST',
      path: '/api/ingest/lifecycle',
      body: { run_id: failed.run_id, event: 'failed', message: 'MemoryError' },
    })
    return {
      nouns: { diagnoses: { diagnosis_id: String(diagnosis_id) } },
      fields: { job_id: run_id },
    }
  },
  missing: ({ nouns, fields }, whose) => ({
    nouns: {
      diagnoses: {
        diagnosis_id: String(1_000_000_000 + whose.length + Number(nouns.diagnoses?.diagnosis_id)),
      },
    },
    fields: { job_id: `${String(fields.run_id).slice(0, -6)}000000` },
  }),
  hidden: ['diagnoses'],
  lists: { '/api/diagnoses/fingerprints': 'its people' },
  tables: {
    diagnoses: {
      seenBy: 'members',
      isOfRun: true,
      isFilled: true,
      cells: ({ no }) => ({ diagnosis_id: 1_000_000 + no }),
    },
  },
  changes: {
    'POST /api/job/diagnose': {
      body: ({ fixtures }) => ({ job_id: fixtures.operator.nouns.jobs?.run_id }),
    },
  },
}
