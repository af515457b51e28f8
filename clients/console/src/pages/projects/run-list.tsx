import { Link } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { strokeOfRun } from '../../charts/colours.ts'
import { Button } from '../../design/button.tsx'
import { State } from '../../design/state.tsx'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { shownAtFirst } from './shown.ts'
import { words } from './words.ts'

type Props = {
  runs: readonly RunRow[]
  /** All that match, of which `runs` are the newest; null where the server stops counting. */
  total: number | null
  shown: readonly RunRow[]
  onShow: (shown: readonly RunRow[]) => void
  lifted: string | null
  onLift: (runId: string | null) => void
  q: string
  fault: string | null
  onSearch: (q: string) => void
}

/** The runs of a project, each with the colour of its curves; a run can be hidden from all charts at once. */
export function RunList({ runs, total, shown, onShow, lifted, onLift, q, fault, onSearch }: Props) {
  const say = useWords(words)
  const [isOpen, setOpen] = useState(() => matchMedia('(min-width: 60rem)').matches)
  const isShown = new Set(shown.map(run => run.run_id))
  const toggle = (run: RunRow) =>
    onShow(runs.filter(one => isShown.has(one.run_id) !== (one.run_id === run.run_id)))
  return (
    <details
      className={styles.side}
      open={isOpen}
      onToggle={event => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span role="status">{say.shownOf(shown.length, total ?? runs.length, total === null)}</span>
      </summary>
      <div>
        <div className={styles.tools}>
          <Search q={q} fault={fault} onSearch={onSearch} />
          <div className={styles.buttons}>
            <Button kind="quiet" onClick={() => onShow(runs.slice(0, shownAtFirst))}>
              {say.newest}
            </Button>
            <Button kind="quiet" onClick={() => onShow(runs)}>
              {say.all}
            </Button>
            <Button kind="quiet" onClick={() => onShow([])}>
              {say.noneAll}
            </Button>
          </div>
          {(total === null || total > runs.length) && (
            <p className={styles.soft}>{say.onlyNewest(runs.length)}</p>
          )}
        </div>
        <ul className={styles.runs} aria-label={say.list} tabIndex={0}>
          {runs.map(run => (
            <Line
              key={run.run_id}
              run={run}
              isShown={isShown.has(run.run_id)}
              isLifted={lifted === run.run_id}
              onToggle={() => toggle(run)}
              onLift={onLift}
            />
          ))}
        </ul>
      </div>
    </details>
  )
}

type LineProps = {
  run: RunRow
  isShown: boolean
  isLifted: boolean
  onToggle: () => void
  onLift: (runId: string | null) => void
}

function Line({ run, isShown, isLifted, onToggle, onLift }: LineProps) {
  const say = useWords(words)
  const { run_id, short_id, best } = run
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
        onChange={onToggle}
      />
      <Swatch shortId={short_id} isShown={isShown} />
      <Link to="/runs/$run_id" params={{ run_id: short_id }} title={`${name} · ${short_id}`}>
        {run.starred && '★ '}
        {name}
      </Link>
      <span
        className={styles.value}
        {...(best && { title: `${best.key} (${best.goal}): ${best.value}` })}
      >
        {best?.value == null ? '' : shortNumber(best.value, 3)}
      </span>
      <State state={run.job_state ?? run.state} />
    </li>
  )
}

/** A piece of the run's line, as charts draw it. */
function Swatch({ shortId, isShown }: { shortId: string; isShown: boolean }) {
  const { token, dash } = strokeOfRun(shortId)
  return (
    <svg
      className={styles.swatch}
      viewBox="0 0 28 12"
      aria-hidden="true"
      opacity={isShown ? 1 : 0.3}
    >
      <line
        x1={0}
        x2={28}
        y1={6}
        y2={6}
        strokeWidth={4}
        strokeDasharray={dash.join(' ')}
        style={{ stroke: `var(--${token})` }}
      />
    </svg>
  )
}

type SearchProps = { q: string; fault: string | null; onSearch: (q: string) => void }

function Search({ q, fault, onSearch }: SearchProps) {
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
        // The field's cross empties it, and searches for nothing.
        onChange={event => event.target.value === '' && onSearch('')}
      />
      {fault !== null && (
        <p id={id} className={styles.fault} role="alert">
          {fault}
        </p>
      )}
    </form>
  )
}
