import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { SearchForm } from '../../design/search-form.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import styles from './page.module.css'
import type { Named, Rows } from './paths.ts'
import { Record } from './record.tsx'
import { words } from './words.ts'

const size = 10
const wholeNumber = /^\d{1,15}$/

type Change = Readonly<{ split?: string | undefined; q?: string | undefined; from?: number }>

/** The rows of a split by page, or only rows with a text; the address holds the choice. */
export function Content({ dataset: { owner, name }, path }: { dataset: Named; path: string }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { split, q = '', from: asked = '' } = useSearch({ strict: false })
  const from = wholeNumber.test(asked) ? Number(asked) : 0
  const rows = useQuery({
    ...reading<Rows>(`${path}/rows`, { split, q, from, limit: size }),
    placeholderData: keepPreviousData,
  })
  const go = ({ from: next = 0, ...change }: Change) =>
    void navigate({
      to: '/datasets/$owner/$name',
      params: { owner, name },
      search: old => ({ ...old, ...change, from: next > 0 ? String(next) : undefined }),
      resetScroll: false,
    })
  return (
    <Panel title={say.content}>
      <Shown of={rows}>
        {page => (
          <>
            <Controls of={page} q={q} go={go} />
            <Page of={page} isSearch={q !== ''} />
            <Turn of={page} isSearch={q !== ''} from={from} go={go} />
          </>
        )}
      </Shown>
    </Panel>
  )
}

type Go = (change: Change) => void

function Controls({ of: { split, splits }, q, go }: { of: Rows; q: string; go: Go }) {
  const say = useWords(words)
  return (
    <SearchForm label={say.containing} q={q} onSearch={next => go({ q: next })}>
      <Select
        label={say.split}
        value={split}
        choices={splits.map(value => ({ value, text: visible(value) }))}
        onChange={next => go({ split: next })}
      />
    </SearchForm>
  )
}

function Page({ of: { rows, total, next }, isSearch }: { of: Rows; isSearch: boolean }) {
  const say = useWords(words)
  const language = useLanguage()
  if (rows.length === 0)
    return (
      <p className={layout.soft}>
        {isSearch && next !== null ? say.notHere((next + 1).toLocaleString(language)) : say.noRows}
      </p>
    )
  return (
    <ol className={styles.list}>
      {rows.map(({ row, file, data }) => (
        <li key={row} className={styles.record}>
          <h3>
            {say.row((row + 1).toLocaleString(language))}{' '}
            {say.ofRows(total.toLocaleString(language))} · {visible(file)}
          </h3>
          <Record of={data} />
        </li>
      ))}
    </ol>
  )
}

type TurnProps = { of: Rows; isSearch: boolean; from: number; go: Go }

/** Search results are unevenly spread: only the browser's history knows where the previous page began. */
function Turn({ of: { next }, isSearch, from, go }: TurnProps) {
  const say = useWords(words)
  if (from === 0 && next === null) return null
  return (
    <div className={layout.row}>
      {from > 0 && <Button onClick={() => go({})}>{say.first}</Button>}
      {from > size && !isSearch && (
        <Button onClick={() => go({ from: from - size })}>{say.previous}</Button>
      )}
      {next !== null && <Button onClick={() => go({ from: next })}>{say.next}</Button>}
    </div>
  )
}
