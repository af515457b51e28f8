import type { FingerprintRow } from '../../../schemas/diagnoses.ts'
import { failureCategories } from '../../../schemas/failure-categories.ts'
import { describe, ofProject } from '../program/describe.ts'
import { instant } from '../program/instant.ts'
import { list } from '../program/list.ts'
import type { CommonOptions, Texts } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'
import type { Column } from '../terminal/table.ts'

type DiagnosesOptions = CommonOptions &
  Texts<'project' | 'owner' | 'category' | 'since'> & { limit: string }

export const describeDiagnoses = describe({
  text: 'the most frequent failures and their trend: failed runs by the fingerprint of their diagnosis',
  options: {
    ...ofProject,
    '-o, --owner <username>': 'only runs of a person',
    '-c, --category <category>': { text: 'e.g. gpu_oom', choices: failureCategories },
    '--since <time>': 'from then on: 12h, 7d ago, or an ISO time; 30 days by default, 90 at most',
    '-l, --limit <count>': ['at most this many', '20'],
  },
  after: `
TREND compares with the previous period of the same length; new: not seen before, within a year.

Examples:
  forge diagnoses --since 7d
  forge diagnoses -p demo -c gpu_oom`,
})

export const diagnoses = list<FingerprintRow, DiagnosesOptions>({
  path: '/api/diagnoses/fingerprints',
  filters: ({ project, owner, category, since, limit }, { nowMs }) => ({
    ...{ project, owner, category, limit },
    since: instant('--since', since, nowMs()),
  }),
  shown: (_, { nowMs }) => ({ columns: columnsAt(nowMs()), none: 'No failure matches' }),
})

const columnsAt = (nowMs: number): Column<FingerprintRow>[] => [
  { title: 'COUNT', cell: row => String(row.count), align: 'right' },
  { title: 'TREND', cell: trendText },
  { title: 'CATEGORY', cell: row => row.category },
  { title: 'FAILURE', cell: row => row.title, shrinks: true },
  { title: 'LAST', cell: row => ago(row.last_seen, nowMs), align: 'right' },
  { title: 'NEWEST', cell: row => row.runs[0]?.short_id ?? '' },
  { title: 'BLAME', cell: row => row.blame, drops: true },
  { title: 'PROJECTS', cell: row => String(row.projects), align: 'right', drops: true },
  { title: 'OWNERS', cell: row => String(row.owners), align: 'right', drops: true },
  { title: 'FINGERPRINT', cell: row => row.fingerprint, drops: true },
]

/** `up +4`, `down -2`, `same` or `new`. */
function trendText({ trend, count, previous_count }: FingerprintRow): string {
  const change = count - previous_count
  if (trend === 'up') return `up +${change}`
  return trend === 'down' ? `down ${change}` : trend
}

const ago = (at: string, nowMs: number): string => duration((nowMs - Date.parse(at)) / 1000)
