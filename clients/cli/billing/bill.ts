import type { SummaryRow } from '../../../schemas/billing.ts'
import { withQuery } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { saveFile } from '../runs/metric-export.ts'

type BillOptions = CommonOptions &
  Texts<'month' | 'user' | 'project' | 'format'> & { group: string }

export const describeBill = describe({
  text: 'the bill of a month: yours and those of your projects',
  options: {
    '-g, --group <by>': {
      text: 'what to sum up by',
      choices: ['user', 'team', 'project', 'run', 'token', 'day', 'kind'],
      fallback: 'project',
    },
    '-m, --month <month>': 'e.g. 2026-11; the current one (UTC) by default',
    '-u, --user <username>': 'of one person',
    '-p, --project <project>': 'of one project',
    '--format <format>': {
      text: 'print every entry as CSV, or with the columns of FOCUS 1.0, instead of sums',
      choices: ['csv', 'focus'],
    },
  },
})

const asked = ({ month, user, project }: BillOptions) => ({ month, user, project })

const sums = list<SummaryRow, BillOptions>({
  path: '/api/billing/summary',
  filters: options => ({ ...asked(options), group: options.group }),
  shown: ({ group }) => ({
    columns: [
      { title: group.toUpperCase(), cell: row => row.group ?? '-', shrinks: true },
      { title: 'GPU-HOURS', cell: row => (row.gpu_seconds / 3600).toFixed(2), align: 'right' },
      {
        title: 'GB-HOURS',
        cell: row => Number(row.gb_hours).toFixed(2),
        align: 'right',
        drops: true,
      },
      { title: 'COST', cell: row => `${row.cost} ${row.currency}`, align: 'right' },
    ],
    none: 'Nothing was billed in this month.',
  }),
})

export async function bill(world: World, options: BillOptions): Promise<ExitCode> {
  const { format } = options
  if (format === undefined) return sums(world, options)
  const query = { ...asked(options), format }
  await saveFile(await openSignedIn(world, options), withQuery('/api/billing/export', query))
  return exitCode.ok
}
