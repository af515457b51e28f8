import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { FingerprintRow } from '../../../../../schemas/diagnoses.ts'
import { failureCategories } from '../../../../../schemas/failure-categories.ts'
import type { project as projectRecord } from '../../../../../schemas/projects.ts'
import { Badge } from '../../design/badge.tsx'
import { Select } from '../../design/field.tsx'
import { More } from '../../design/more.tsx'
import { Empty } from '../../design/notice.tsx'
import { Num } from '../../design/number.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import type { Me } from '../../session/session.ts'
import { usePages } from '../../session/use-pages.ts'
import { blameText, categoryText } from '../../words/failures.ts'
import { visible } from '../../words/visible.ts'
import { type Language, useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { Sparkline } from './sparkline.tsx'
import { Trend } from './trend.tsx'
import { words } from './words.ts'

const windows = ['7', '30', '90'] as const
const usualWindow = '30'
const dayMs = 86_400_000
const againMs = 30_000

type Filters = {
  window: (typeof windows)[number]
  project: string
  owner: string
  category: string
}

/** The most frequent failures, and their trend. */
export function Page() {
  const say = useWords(words)
  const filters = useFilters()
  const { window: days, project, owner, category } = filters
  // The start of a day, so that the address of the request stays the same until midnight.
  const since = Math.floor(Date.now() / dayMs) * dayMs - (Number(days) - 1) * dayMs
  const found = usePages<FingerprintRow>('/api/diagnoses/fingerprints', {
    query: { project, owner, category, since: new Date(since).toISOString() },
    size: 100,
    keyOf: row => row.fingerprint,
    everyMs: againMs,
  })
  const isFiltered = project !== '' || owner !== '' || category !== ''
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <p className={styles.soft}>{say.about}</p>
      <Controls of={filters} />
      <QueryTable
        of={found}
        none={<Empty text={isFiltered ? say.noneFound : say.none} />}
        caption={say.title}
        keyOf={row => row.fingerprint}
        columns={columnsOf(say, useLanguage())}
      />
      <More of={found} />
    </div>
  )
}

function useFilters(): Filters {
  const { days, project = '', owner = '', category } = useSearch({ strict: false })
  return {
    window: windows.find(one => one === days) ?? usualWindow,
    project,
    owner,
    category: failureCategories.find(one => one === category) ?? '',
  }
}

function Controls({ of: { window: days, project, owner, category } }: { of: Filters }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const projects = useQuery(
    reading<Static<typeof projectRecord>[]>('/api/projects', { limit: 500 }),
  )
  const me = useQuery(reading<Me>('/api/auth/me'))
  const go = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({ to: '/diagnoses', search: old => ({ ...old, ...change }), replace: true })
  const names = withChosen(
    (projects.data ?? []).map(({ name }) => name),
    project,
  )
  const username = me.data?.username ?? ''
  const language = useLanguage()
  const categoryChoices = failureCategories.map(value => ({
    value,
    text: categoryText(value, language),
  }))
  return (
    <div className={styles.controls}>
      <Select
        label={say.window}
        value={days}
        choices={windows.map(value => ({ value, text: say.lastDays(Number(value)) }))}
        onChange={next => go({ days: next === usualWindow ? undefined : next })}
      />
      <Select
        label={say.project}
        value={project}
        choices={[{ value: '', text: say.allProjects }, ...names.map(asChoice)]}
        onChange={next => go({ project: next || undefined })}
      />
      <Select
        label={say.owner}
        value={owner}
        choices={[
          { value: '', text: say.everybody },
          ...withChosen(username === '' ? [] : [username], owner).map(value => ({
            value,
            text: value === username ? say.mine : value,
          })),
        ]}
        onChange={next => go({ owner: next || undefined })}
      />
      <Select
        label={say.category}
        value={category}
        choices={[{ value: '', text: say.allCategories }, ...categoryChoices]}
        onChange={next => go({ category: next || undefined })}
      />
    </div>
  )
}

const asChoice = (value: string) => ({ value, text: value })

/** The name in the address is a choice, even if nothing has it any more. */
const withChosen = (names: readonly string[], chosen: string): readonly string[] =>
  chosen === '' || names.includes(chosen) ? names : [chosen, ...names]

const columnsOf = (say: (typeof words)['en'], language: Language): Column<FingerprintRow>[] => [
  {
    key: 'failure',
    title: say.failure,
    cell: ({ title }) => <span className={styles.title}>{visible(title)}</span>,
  },
  {
    key: 'category',
    title: say.category,
    cell: row => <Badge tone="bad">{categoryText(row.category, language)}</Badge>,
  },
  { key: 'cause', title: say.cause, cell: row => blameText(row.blame, language) },
  { key: 'daily', title: say.daily, cell: row => <Sparkline daily={row.daily} /> },
  { key: 'count', title: say.count, isNumber: true, cell: row => <Num value={row.count} /> },
  { key: 'trend', title: say.trend, cell: row => <Trend of={row} /> },
  {
    key: 'affected',
    title: say.affected,
    cell: row => (
      <span className={styles.short}>
        {say.projects(row.projects)}, {say.owners(row.owners)}
      </span>
    ),
  },
  {
    key: 'last',
    title: say.last,
    cell: row => (
      <span className={styles.seen}>
        <Ago at={row.last_seen} />
        <span className={styles.soft}>
          {say.first} <Ago at={row.first_seen} />
        </span>
      </span>
    ),
  },
  {
    key: 'runs',
    title: say.runs,
    cell: ({ runs }) => (
      <span className={styles.runs}>
        {runs.map(({ short_id, run_id }) => (
          <Link key={run_id} to="/runs/$run_id" params={{ run_id: short_id }}>
            {short_id}
          </Link>
        ))}
      </span>
    ),
  },
]
