import type { Sample } from './sample.ts'

export const alertSample: Sample = {
  slice: 'alerts',
  async make({ report }) {
    await report('alert', { title: 'Reward collapsed' })
    return {}
  },
  tables: {
    alerts: {
      seenBy: 'members',
      isOfRun: true,
      isFilled: true,
      cells: ({ no }) => ({ alert_id: `alr_${no}`, change: no }),
    },
  },
}
