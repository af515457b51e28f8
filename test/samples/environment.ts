import type { RowOwner, Sample, TableSample } from './sample.ts'

const ofRun: TableSample = { seenBy: 'members', isOfRun: true, isFilled: true }
/** Runs of two people do not share an environment here. */
const cells = ({ run_id }: RowOwner) => ({ digest: run_id })

export const environmentSample: Sample = {
  slice: 'environment',
  async make({ owner, report }) {
    await report('environment', { hostname: owner.username })
    await report('environment/nodes', { nodes: [{ node: 'n1' }] })
    return {}
  },
  tables: {
    // Readable for everyone who may read a run with it.
    environments: { ...ofRun, cells },
    run_environments: { ...ofRun, cells },
    run_nodes: ofRun,
  },
  changes: {
    'POST /api/ingest/environment': {
      body: ({ fixtures }) => ({ run_id: fixtures.operator.fields.run_id, python: '3.11.9' }),
    },
    'POST /api/ingest/environment/nodes': {
      body: ({ fixtures }) => ({
        run_id: fixtures.operator.fields.run_id,
        nodes: [{ node: 'n2', cpu_count: 8 }],
      }),
    },
  },
}
