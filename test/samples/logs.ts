import type { Sample, TableSample } from './sample.ts'

const ofRun: TableSample = { seenBy: 'members', isOfRun: true }

export const logSample: Sample = {
  slice: 'logs',
  async make({ report }) {
    await report('logs', { chunks: ['a line of nobody else'] })
    return {}
  },
  tables: { log_chunks: { ...ofRun, isFilled: true }, log_runs: ofRun, log_sources: ofRun },
  changes: {
    'POST /api/ingest/logs': { leavesNoEvent: 'a fact: on the log with its run and request' },
  },
}
