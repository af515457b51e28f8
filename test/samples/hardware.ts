import type { Sample, TableSample } from './sample.ts'

const members: TableSample = { seenBy: 'members', isOfRun: true }
const ofRun: TableSample = { ...members, isFilled: true }

export const hardwareSample: Sample = {
  slice: 'hardware',
  async make({ report }) {
    // Now, because old samples are reduced to means.
    const at = { ts: new Date().toISOString(), node: 'n1' }
    await report('hardware', { points: [{ ...at, scope: 'gpu', index: 0, util_pct: 97 }] })
    return {}
  },
  tables: {
    hardware_runs: ofRun,
    hardware_sources: ofRun,
    hardware_points: ofRun,
    hardware_means: members,
    hardware_readings: { ...members, rowsEach: 2 },
  },
  changes: {
    'POST /api/ingest/hardware': { leavesNoEvent: 'a fact: on the log with its run and request' },
  },
}
