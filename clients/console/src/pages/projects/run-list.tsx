import { Link } from '@tanstack/react-router'
import { type FormEvent, memo, type ReactNode, useCallback, useId, useRef, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { strokeOfRun } from '../../charts/stroke.ts'
import { Button } from '../../design/button.tsx'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { readRunAhead } from '../run/ahead.ts'
import { RowState } from '../run/row-state.tsx'
import styles from './page.module.css'
import { shownAtFirst, withWord } from './shown.ts'
import type { Order } from './sort.ts'
import { Swatch } from './swatch.tsx'
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
  const { runs, total, shown, onShow, order, q, fault, onSearch } = props
  const { choice, groups } = props
  const say = useWords(words)
  const [isOpen, setOpen] = useState(() => matchMedia('(min-width: 60rem)').matches)
  const [typed, setTyped] = useState({ q, text: '' })
  const listed = typed.q === q ? withWord(runs, typed.text) : runs
  return (
    <details
      className={styles.side}
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
          {groups === null && (
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
            </div>
          )}
          {groups === null && (total === null || (total ?? 0) > runs.length) && (
            <p className={styles.soft}>
              {(order === null ? say.onlyNewest : say.onlyFirst)(runs.length)}
            </p>
          )}
        </div>
        {groups ?? <Rows {...props} listed={listed} />}
      </div>
    </details>
  )
}

/** The listed runs, each of which can be shown or hidden. */
function Rows(props: Props & { listed: readonly RunRow[] }) {
  const { listed, runs, shown, onShow, lifted, onLift, order } = props
  const say = useWords(words)
  const isShown = new Set(shown.map(run => run.run_id))
  const latest = useRef<(run: RunRow) => void>(() => {})
  latest.current = run =>
    onShow(runs.filter(one => isShown.has(one.run_id) !== (one.run_id === run.run_id)))
  const toggle = useCallback((run: RunRow) => latest.current(run), [])
  return (
    <ul className={styles.runs} aria-label={say.list} tabIndex={0}>
      {listed.map(run => (
        <Line
          key={run.run_id}
          run={run}
          metric={order?.key ?? null}
          isShown={isShown.has(run.run_id)}
          isLifted={lifted === run.run_id}
          onToggle={toggle}
          onLift={onLift}
        />
      ))}
      {listed.length === 0 && runs.length > 0 && <li className={styles.soft}>{say.noneListed}</li>}
    </ul>
  )
}

type LineProps = {
  run: RunRow
  /** Whose last value is shown, instead of the best one of the run. */
  metric: string | null
  isShown: boolean
  isLifted: boolean
  onToggle: (run: RunRow) => void
  onLift: (runId: string | null) => void
}

/** Drawn again only if it changes itself: a list has up to 200 of them. */
const Line = memo(function Line(props: LineProps) {
  const { run, metric, isShown, isLifted, onToggle, onLift } = props
  const say = useWords(words)
  const { run_id, short_id } = run
  const name = visible(run.name ?? short_id)
  return (
    <li
      className={`${styles.run} ${isShown ? '' : styles.aside} ${isLifted ? styles.lifted : ''}`}
      onMouseEnter={() => onLift(isShown ? run_id : null)}
      onMouseLeave={() => onLift(null)}
      onFocus={() => onLift(isShown ? run_id : null)}
      onBlur={() => onLift(null)}
    >
      <input
        type="checkbox"
        aria-label={say.show(`${name} (${short_id})`)}
        checked={isShown}
        onChange={() => onToggle(run)}
      />
      <Swatch stroke={strokeOfRun(short_id)} isShown={isShown} />
      <Link
        to="/runs/$run_id"
        params={{ run_id: short_id }}
        title={`${name} · ${short_id}`}
        onPointerEnter={() => readRunAhead(run)}
        onFocus={() => readRunAhead(run)}
      >
        {run.starred && '★ '}
        {name}
      </Link>
      <Value run={run} metric={metric} />
      <RowState run={run} />
    </li>
  )
})

function Value({ run, metric }: Pick<LineProps, 'run' | 'metric'>) {
  const { best, summary } = run
  const last = metric === null ? undefined : summary[metric]?.last
  const value = metric === null ? best?.value : last
  const title = metric === null ? best && `${best.key} (${best.goal})` : metric
  return (
    <span className={styles.value} {...(value != null && { title: `${title}: ${value}` })}>
      {typeof value === 'number' ? shortNumber(value, 3) : value}
    </span>
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
