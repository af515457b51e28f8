import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Empty, Shown } from '../../design/notice.tsx'
import { Tabs } from '../../design/tabs.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type Comparison, compareAgainMs } from './comparison.ts'
import { AllDifferences } from './differences.tsx'
import { strokesOf } from './facts.ts'
import { Overlay } from './overlay.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

/** The metrics of 2 to 200 runs, and the differences between the runs. */
export function Page() {
  const say = useWords(words)
  const { runs = '', all } = useSearch({ strict: false })
  const ids = [...new Set(runs.split(',').filter(Boolean))]
  const isAll = all === '1'
  const found = useQuery({
    ...reading<Comparison>('/api/runs/compare', {
      ids: ids.join(','),
      missing: 'skip',
      rows: isAll ? 'all' : 'differing',
    }),
    enabled: ids.length >= 2,
    placeholderData: before => before,
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ ended_at }) => ended_at === null) ? compareAgainMs : false,
  })
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <Chosen ids={ids} data={found.data ?? null} />
      {ids.length < 2 ? (
        <Empty text={say.few}>
          <Link to="/runs">{say.choose}</Link>
        </Empty>
      ) : (
        <Shown of={found}>{data => <Found data={data} isAll={isAll} />}</Shown>
      )}
    </div>
  )
}

const most = 200
/** More runs than this are folded, so that the charts are in view; on a phone any. */
const mostInView = 12
const isPhone = () => !matchMedia('(min-width: 40rem)').matches

/** The runs, each in the colour of its curves. A run that does not exist is named, but not compared. */
function Chosen({ ids, data }: { ids: readonly string[]; data: Comparison | null }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const go = (next: readonly string[]) =>
    void navigate({ to: '/compare', search: old => ({ ...old, runs: next.join(',') }) })
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const id = String(new FormData(event.currentTarget).get('id')).trim()
    if (id !== '') go([...ids, id])
    event.currentTarget.reset()
  }
  const [isNarrow] = useState(isPhone)
  const isFolded = ids.length > mostInView || (isNarrow && ids.length >= 2)
  const found = data?.runs ?? []
  const missing = data?.missing ?? []
  const strokes = strokesOf({ runs: found })
  const chips = (
    <div className={styles.chosen}>
      {ids.map(id => {
        const nth = found.findIndex(run => run.run_id === id || run.short_id === id)
        const run = found[nth]
        return (
          <span key={id} className={styles.run}>
            {run && (
              <span
                className={styles.dot}
                style={{ background: `var(--${strokes[nth]?.token})` }}
              />
            )}
            {missing.includes(id) ? (
              <span role="alert">{say.missing(id)}</span>
            ) : (
              <Link to="/runs/$run_id" params={{ run_id: run?.short_id ?? id }}>
                {visible(run?.name ?? run?.short_id ?? id)}
              </Link>
            )}
            <Button
              kind="quiet"
              aria-label={say.remove(id)}
              onClick={() => go(ids.filter(one => one !== id))}
            >
              ×
            </Button>
          </span>
        )
      })}
    </div>
  )
  const form = (
    <form onSubmit={add} className={styles.chosen}>
      <TextField label={say.add} name="id" placeholder="demo-12" />
      <Button type="submit" unless={ids.length >= most && say.enough}>
        {say.addButton}
      </Button>
    </form>
  )
  return (
    <>
      {isFolded ? (
        <details>
          <summary>{say.ofRuns(ids.length)}</summary>
          {chips}
          {isNarrow && form}
        </details>
      ) : (
        <div className={styles.chosen}>
          {chips}
          {form}
        </div>
      )}
      {missing.length > 0 && isFolded && <p role="alert">{say.missing(missing.join(', '))}</p>}
      {isFolded && !isNarrow && form}
    </>
  )
}

const parts = ['curves', 'differences'] as const

function Found({ data, isAll }: { data: Comparison; isAll: boolean }) {
  const say = useWords(words)
  const { part } = useSearch({ strict: false })
  const shown = parts.find(one => one === part) ?? 'curves'
  return (
    <>
      <Tabs label={say.title}>
        {parts.map(one => (
          <Link
            key={one}
            to="/compare"
            search={old => ({ ...old, part: one === 'curves' ? undefined : one })}
            // The shortest address is also a part of the others.
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
            aria-current={one === shown ? 'page' : undefined}
          >
            {say[one]}
          </Link>
        ))}
      </Tabs>
      {shown === 'curves' && <Overlay data={data} />}
      {shown === 'differences' && <AllDifferences data={data} isAll={isAll} />}
    </>
  )
}
