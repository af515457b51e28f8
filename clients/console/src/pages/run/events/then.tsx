import { type ReactNode, useMemo } from 'react'
import type { RunEvent } from '../../../../../../schemas/runs/events.ts'
import { Badge } from '../../../design/badge.tsx'
import { Button } from '../../../design/button.tsx'
import { Panel } from '../../../design/panel.tsx'
import { State } from '../../../design/state.tsx'
import { useLanguage, useWords } from '../../../words/words.ts'
import { type Past, pastOf } from './past.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = {
  events: readonly RunEvent[]
  /** Whether these are all events. */
  isWhole: boolean
  /** Index of the event after which the run is shown; null: the current state, or the state after the last event. */
  chosen: number | null
  onChoose: (nth: number | null) => void
}

/** The state of the run after an event; a slider moves through the events. */
export function Then({ events, isWhole, chosen, onChoose }: Props) {
  const say = useWords(words)
  const language = useLanguage()
  const last = events.length - 1
  const nth = chosen ?? last
  const event = events[nth]
  const past = useMemo(() => pastOf(events.slice(0, nth + 1)), [events, nth])
  const at = event ? new Date(event.at).toLocaleString(language) : ''
  const isNow = chosen === null && isWhole
  return (
    <div className={styles.then}>
      <Panel
        title={say.was}
        actions={
          chosen !== null && (
            <Button onClick={() => onChoose(null)}>{isWhole ? say.now : say.last}</Button>
          )
        }
      >
        <label className={styles.slider}>
          {isNow ? say.now : `${say.after(nth + 1, events.length)}: ${at}`}
          <input
            type="range"
            aria-label={say.slider}
            min={0}
            max={last}
            value={nth}
            aria-valuetext={`${at}: ${event?.summary ?? ''}`}
            onChange={({ target }) => onChoose(Number(target.value))}
          />
        </label>
        <PastFacts past={past} />
      </Panel>
    </div>
  )
}

function PastFacts({ past }: { past: Past }) {
  const say = useWords(words)
  const language = useLanguage()
  const timeOf = (text: string | null) => text && new Date(text).toLocaleString(language)
  const facts: [name: string, value: ReactNode][] = [
    [say.attempt, past.attempt],
    [say.name, past.name],
    [say.tags, past.tags.join(', ')],
    [say.priority, past.priority],
    [say.place, past.place],
    [say.deadline, timeOf(past.deadline)],
    [say.exitCode, past.exitCode],
    [say.openAlerts, past.openAlerts || null],
    [say.artifacts, past.artifacts || null],
  ]
  return (
    <dl className={styles.past}>
      <dt>{say.state}</dt>
      <dd data-fact="state">
        {past.state === null ? '–' : <State state={past.state} />} {past.reason}{' '}
        {past.isDeleted && <Badge tone="bad">{say.deleted}</Badge>}
        {past.since !== null && (
          <span className={styles.soft}>
            {' '}
            {say.since} {timeOf(past.since)}
          </span>
        )}
      </dd>
      {facts.map(
        ([name, value]) =>
          value !== null &&
          value !== '' && (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
