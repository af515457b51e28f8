import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type Found, foundTypes, type SearchReply } from '../../../../../schemas/found.ts'
import layout from '../../design/layout.module.css'
import { Empty, Shown } from '../../design/notice.tsx'
import { SearchForm } from '../../design/search-form.tsx'
import { State } from '../../design/state.tsx'
import { type Column, Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { typeWords, words } from './words.ts'

/** Rows of each type side by side, and of one type alone. */
const sizes = { each: 5, one: 50 } as const

/** Everything that one search finds; with `type` in the address, one type page by page. */
export function Page() {
  const say = useWords(words)
  const navigate = useNavigate()
  const { q = '', type: named, from } = useSearch({ strict: false })
  const type = foundTypes.find(one => one === named)
  const offset = type === undefined ? 0 : startOf(from)
  const found = useQuery({
    ...reading<SearchReply>('/api/search', {
      ...{ q, type, limit: type === undefined ? sizes.each : sizes.one },
      ...(offset > 0 && { offset }),
    }),
    placeholderData: before => before,
  })
  return (
    <div className={layout.sheet}>
      <h1>{say.title}</h1>
      <p className={layout.soft}>{say.about}</p>
      <SearchForm
        label={say.label}
        q={q}
        onSearch={next => void navigate({ to: '/search', search: { q: next, type } })}
      />
      <Shown of={found}>{reply => <Results of={reply} {...{ q, offset }} />}</Shown>
    </div>
  )
}

/** The number in an address, which people may edit. */
const startOf = (text: string | undefined): number =>
  /^[1-9]\d{0,5}$/.test(text ?? '') ? Math.min(100_000, Number(text)) : 0

type Placed = { q: string; offset: number }

function Results({ of, ...placed }: { of: SearchReply } & Placed) {
  const say = useWords(words)
  const types = foundTypes.filter(type => (of.counts[type] ?? 0) > 0)
  const isOne = Object.keys(of.counts).length === 1
  return (
    <>
      {isOne && (
        <Link to="/search" search={{ q: placed.q || undefined }}>
          {say.everything}
        </Link>
      )}
      {types.length === 0 && <Empty text={say.none} />}
      {types.map(type => (
        <Section
          key={type}
          type={type}
          rows={of.results.filter(row => row.type === type)}
          count={of.counts[type] ?? 0}
          {...placed}
        />
      ))}
    </>
  )
}

type SectionProps = Placed & { type: Found['type']; rows: readonly Found[]; count: number }

function Section({ type, rows, count, q, offset }: SectionProps) {
  const say = useWords(words)
  const titles = useWords(typeWords)
  const at = (from: number) => ({
    q: q || undefined,
    type,
    from: from > 0 ? String(from) : undefined,
  })
  const end = offset + rows.length
  const isOne = rows.length > sizes.each || offset > 0
  return (
    <section className={layout.page}>
      <header className={layout.head}>
        <h2>{titles[type]}</h2>
        {!isOne && count > rows.length && (
          <Link to="/search" search={at(0)}>
            {say.all(count > 10_000 ? '10000+' : String(count))}
          </Link>
        )}
      </header>
      <Table
        caption={titles[type]}
        keyOf={row => row.ref}
        columns={columnsOf(say, rows)}
        rows={rows}
      />
      {isOne && (
        <p className={layout.row}>
          {offset > 0 && (
            <Link to="/search" search={at(Math.max(0, offset - sizes.one))}>
              {say.before}
            </Link>
          )}
          {end < count && (
            <Link to="/search" search={at(end)}>
              {say.after}
            </Link>
          )}
        </p>
      )}
    </section>
  )
}

/** Columns that no row of this type has are left out. */
const columnsOf = (say: (typeof words)['en'], rows: readonly Found[]): Column<Found>[] => [
  { key: 'name', title: say.name, cell: row => <Name of={row} /> },
  ...(rows.some(({ state }) => state !== null)
    ? [
        {
          key: 'state',
          title: say.state,
          cell: ({ state }: Found) => state !== null && <State state={state} />,
        },
      ]
    : []),
  ...(rows.some(({ project }) => project !== null)
    ? [{ key: 'project', title: say.project, cell: ({ project }: Found) => project }]
    : []),
  { key: 'owner', title: say.owner, cell: row => row.owner },
  { key: 'created', title: say.created, cell: row => <Ago at={row.created_at} /> },
]

function Name({ of: { name, ref, path } }: { of: Found }) {
  const [to = '/', query] = path.split('?')
  return (
    <>
      <Link to={to} search={Object.fromEntries(new URLSearchParams(query))}>
        {visible(name)}
      </Link>
      {ref !== name && !name.includes(ref) && <span className={layout.soft}> {ref}</span>}
    </>
  )
}
