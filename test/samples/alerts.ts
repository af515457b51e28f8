import type { Sample } from './sample.ts'

export const alertSample: Sample = {
  slice: 'alerts',
  tables: {
    alerts: {
      seenBy: 'members',
      isOfRun: true,
      cells: ({ no }) => ({ alert_id: `alr_${no}` }),
    },
  },
}
