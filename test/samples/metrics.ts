import type { RowOwner, Sample, TableSample } from './sample.ts'

const cells = ({ no }: RowOwner) => ({ run_no: no, key_no: no })
const ofRun: TableSample = { seenBy: 'members', isOfRun: true, cells }

export const metricSample: Sample = {
  slice: 'metrics',
  async make({ report }) {
    await report('metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
    return { fields: { keys: 'loss' } }
  },
  tables: {
    metric_run: { ...ofRun, isFilled: true },
    metric_keys: { ...ofRun, isFilled: true },
    metric_block: ofRun,
    metric_chunk: ofRun,
    metric_latest: ofRun,
    metric_settled: ofRun,
    // Joins the two above, each of which has a row of the owners. A run moves from one to the other after a minute of silence.
    metric_summary: { ...ofRun, rowsEach: 2, isFilled: true },
    latest_of_runs: { seenBy: 'members' },
    settled_of_runs: { seenBy: 'members' },
    searched_summaries: { seenBy: 'members', rowsEach: 2 },
    metric_name: {
      seenBy: 'everybody',
      cells: owner => ({ ...cells(owner), key: owner.project }),
    },
  },
  changes: {
    'POST /api/ingest/metrics': { leavesNoEvent: 'a fact: on the log with its run and request' },
  },
}
