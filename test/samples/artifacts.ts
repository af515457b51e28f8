import type { Sample } from './sample.ts'

export const artifactSample: Sample = {
  slice: 'artifacts',
  async make({ report }) {
    await report('artifact', { kind: 'checkpoint', path: '/tmp/kept', format: 'npz', step: 1 })
    return {}
  },
  tables: {
    artifacts: {
      seenBy: 'members',
      isOfRun: true,
      isFilled: true,
      cells: ({ no }) => ({ artifact_id: `art_${no}` }),
    },
  },
}
