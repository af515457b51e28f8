import type { Alert } from '../../../schemas/alerts.ts'
import { segment } from '../api/client.ts'
import { describe, oneRun } from '../program/describe.ts'
import { list } from '../program/list.ts'
import type { CommonOptions, Flags } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import type { Column } from '../terminal/table.ts'

type AlertsOptions = CommonOptions & Flags<'open'>

export const describeAlerts = describe({
  text: 'alerts raised by Forge or by the code of a run, newest first',
  operands: oneRun,
  options: {
    '-o, --open': 'only alerts that are still open',
  },
})

export const alerts = list<Alert, AlertsOptions>({
  path: (_, id) => `/api/runs/${segment(id)}/alerts`,
  filters: ({ open }) => ({ state: open ? 'open' : undefined }),
  shown: ({ open }, { nowMs }) => ({
    columns: alertColumns(nowMs()),
    none: open ? 'No alert is open' : 'There was no alert',
  }),
})

export const alertColumns = (nowMs: number): Column<Alert>[] => [
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'LEVEL', cell: ({ level }) => level },
  { title: 'ALERT', cell: ({ title }) => title, shrinks: true },
  { title: 'RULE', cell: ({ rule }) => rule, drops: true },
  { title: 'AGO', cell: ({ fired_at }) => duration((nowMs - Date.parse(fired_at)) / 1000) },
  { title: 'LASTED', cell: lasted, drops: true },
]

const lasted = ({ fired_at, resolved_at }: Alert): string =>
  resolved_at === null ? '' : duration((Date.parse(resolved_at) - Date.parse(fired_at)) / 1000)
