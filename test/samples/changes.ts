import type { Sample } from './sample.ts'

export const changeSample: Sample = {
  slice: 'changes',
  tables: {
    state_changes: {
      seenBy: 'members',
      isOfRun: true,
      isFilled: true,
      cells: ({ no }) => ({ change: no }),
    },
  },
}
