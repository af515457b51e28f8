import { type FormEvent, type ReactNode, useId, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Button } from '../../design/button.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { RunRows } from './run-rows.tsx'
import { shownAtFirst, withWord } from './shown.ts'
import type { Order } from './sort.ts'
import { useGrid } from './use-grid.ts'
import { words } from './words.ts'

type Props = {
  runs: readonly RunRow[]
  /** All that match, of which `runs` are the first; null where the server stops counting, undefined until it has. */
  total: number | null | undefined
  shown: readonly RunRow[]
  onShow: (shown: readonly RunRow[]) => void
  lifted: string | null
  onLift: (runId: string | null) => void
  /** By which the runs are sorted; null: the newest first. */
  order: Order | null
  onOrder: (order: Order | null) => void
  columns: readonly string[]
  /** The choice of the columns. */
  columnChoice: ReactNode
  q: string
  fault: string | null
  onSearch: (q: string) => void
  /** How the runs are grouped and sorted. */
  choice: ReactNode
  /** Their groups in place of the runs; null: they are not grouped. */
  groups: ReactNode
}

/** The runs of a project, each with the colour of its curves; a run can be hidden from all charts at once. */
export function RunList(props: Props) {
  const { runs, total, shown, columns, q, fault, onSearch } = props
  const { choice, groups } = props
  const say = useWords(words)
  const grid = useGrid(columns)
  const [isOpen, setOpen] = useState(() => matchMedia('(min-width: 60rem)').matches)
  const [typed, setTyped] = useState({ q, text: '' })
  const listed = typed.q === q ? withWord(runs, typed.text) : runs
  return (
    <details
      className={styles.side}
      {...(groups === null && { style: grid })}
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        {groups === null ? (
          <span role="status">
            {total === undefined
              ? say.loading
              : say.shownOf(shown.length, total ?? runs.length, total === null)}
          </span>
        ) : (
          say.grouped
        )}
      </summary>
      <div>
        <div className={styles.tools}>
          <Search q={q} fault={fault} onSearch={onSearch} onType={text => setTyped({ q, text })} />
          {choice}
          {groups === null && <Which {...props} />}
        </div>
        {groups ?? <RunRows {...props} listed={listed} />}
      </div>
    </details>
  )
}

/** Buttons that choose the shown runs, and how many of all the list has. */
function Which({ runs, total, order, onShow, columnChoice }: Props) {
  const say = useWords(words)
  return (
    <>
      <div className={styles.buttons}>
        <Button kind="quiet" onClick={() => onShow(runs.slice(0, shownAtFirst))}>
          {order === null ? say.newest : say.first}
        </Button>
        <Button kind="quiet" onClick={() => onShow(runs)}>
          {say.all}
        </Button>
        <Button kind="quiet" onClick={() => onShow([])}>
          {say.noneAll}
        </Button>
        <span className={styles.space} />
        {columnChoice}
      </div>
      {(total === null || (total ?? 0) > runs.length) && (
        <p className={styles.soft}>
          {(order === null ? say.onlyNewest : say.onlyFirst)(runs.length)}
        </p>
      )}
    </>
  )
}

type SearchProps = {
  q: string
  fault: string | null
  onSearch: (q: string) => void
  /** The text before it is sent. */
  onType: (text: string) => void
}

function Search({ q, fault, onSearch, onType }: SearchProps) {
  const say = useWords(words)
  const id = useId()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    onSearch(String(new FormData(event.currentTarget).get('q')).trim())
  }
  return (
    <form role="search" onSubmit={submit} key={q}>
      <input
        className={styles.search}
        name="q"
        type="search"
        spellCheck={false}
        autoComplete="off"
        aria-label={say.search}
        placeholder={say.searchHint}
        defaultValue={q}
        maxLength={900}
        aria-invalid={fault !== null || undefined}
        aria-describedby={fault === null ? undefined : id}
        onChange={event => {
          onType(event.target.value.trim())
          // The field's cross empties it, and searches for nothing.
          if (event.target.value === '') onSearch('')
        }}
      />
      {fault !== null && (
        <p id={id} className={styles.fault} role="alert">
          {fault}
        </p>
      )}
    </form>
  )
}
