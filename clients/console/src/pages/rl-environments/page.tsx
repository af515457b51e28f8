import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import layout from '../../design/layout.module.css'
import { More } from '../../design/more.tsx'
import { Empty } from '../../design/notice.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { SearchForm } from '../../design/search-form.tsx'
import { State } from '../../design/state.tsx'
import type { Column } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { usePages } from '../../session/use-pages.ts'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Environment } from './paths.ts'
import { words } from './words.ts'

/** The RL environments that one may see. */
export function Page() {
  const say = useWords(words)
  const navigate = useNavigate()
  const { q = '' } = useSearch({ strict: false })
  const found = usePages<Environment>('/api/environments', {
    query: { q },
    size: 100,
    keyOf: one => one.environment,
    isUnderWay: ({ newest }) => newest?.state === 'building',
  })
  return (
    <div className={layout.sheet}>
      <header className={layout.head}>
        <h1>{say.title}</h1>
      </header>
      <SearchForm
        label={say.search}
        q={q}
        onSearch={next =>
          void navigate({ to: '/environments', search: { q: next }, replace: true })
        }
      />
      <QueryTable
        of={found}
        none={
          q === '' ? (
            <Empty text={say.none} command="forge env push ." />
          ) : (
            <Empty text={say.noneFound} />
          )
        }
        caption={say.title}
        keyOf={one => one.environment}
        columns={columnsOf(say)}
      />
      <More of={found} />
    </div>
  )
}

const columnsOf = (say: (typeof words)['en']): Column<Environment>[] => [
  {
    key: 'name',
    title: say.environment,
    cell: ({ owner, name, newest }) => (
      <Link to="/environments/$owner/$name" params={{ owner, name }} className={styles.name}>
        {newest?.ref ?? `${owner}/${name}`}
      </Link>
    ),
  },
  {
    key: 'state',
    title: say.state,
    cell: ({ newest }) => newest && <State state={newest.state} />,
  },
  {
    key: 'baseline',
    title: say.baseline,
    isNumber: true,
    cell: ({ newest }) => newest?.baseline && shortNumber(newest.baseline.mean, 3),
  },
  {
    key: 'title',
    title: say.about,
    cell: ({ newest }) => newest && <span className={styles.name}>{visible(newest.title)}</span>,
  },
  { key: 'visibility', title: say.visibility, cell: one => say[one.visibility] },
  {
    key: 'used',
    title: say.usedBy,
    cell: ({ newest }) => newest && newest.used_by_count > 0 && say.runs(newest.used_by_count),
  },
  { key: 'updated', title: say.updated, cell: one => <Ago at={one.updated_at} /> },
]
