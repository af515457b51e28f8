import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { RunEvent } from '../../../../../../schemas/runs/events.ts'
import { TextField } from '../../../design/field.tsx'
import { More } from '../../../design/more.tsx'
import { Empty, ShownRows } from '../../../design/notice.tsx'
import { type Pages, usePages } from '../../../session/use-pages.ts'
import { useLanguage, useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { eventsWith } from './past.ts'
import styles from './tab.module.css'
import { Then } from './then.tsx'
import { words } from './words.ts'

/** Who did what with a run, and the state of the run after each event. */
export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  // A state change arrives at once, with the run (`useRun`); everything else is polled.
  const read = usePages<RunEvent>(`${pathOfRun(run.run_id)}/events`, {
    ...{ size: 500, pages: 4, keyOf: ({ position }: RunEvent) => position },
    everyMs: run.ended_at === null ? 3_000 : 15_000,
  })
  return (
    <ShownRows of={read} none={<Empty text={say.none} />}>
      {events => <Events run={run} read={read} events={events} />}
    </ShownRows>
  )
}

type Props = { run: RunRecord; read: Pages<RunEvent>; events: readonly RunEvent[] }

function Events({ run, read, events }: Props) {
  const say = useWords(words)
  const { event, q = '' } = useSearch({ strict: false })
  const navigate = useNavigate()
  const found = events.findIndex(({ position }) => String(position) === event)
  const chosen = found === -1 ? null : found
  const shown = eventsWith(events, q)
  const go = (change: Record<string, string | undefined>) =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'events' },
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
  return (
    <div className={styles.tab}>
      <div className={styles.events}>
        <TextField
          label={say.filter}
          type="search"
          value={q}
          onChange={({ target }) => go({ q: target.value || undefined })}
        />
        {event !== undefined && chosen === null && <p className={styles.soft}>{say.unknown}</p>}
        {shown.length === 0 ? (
          <p className={styles.soft}>{say.noneFound}</p>
        ) : (
          <List run={run} events={shown} chosen={events[chosen ?? -1] ?? null} />
        )}
        <More of={read} />
      </div>
      <Then
        events={events}
        isWhole={read.more === null && !read.isReading && read.error === null}
        chosen={chosen}
        onChoose={nth => go({ event: nth === null ? undefined : String(events[nth]?.position) })}
      />
    </div>
  )
}

type ListProps = { run: RunRecord; events: readonly RunEvent[]; chosen: RunEvent | null }

function List({ run, events, chosen }: ListProps) {
  const say = useWords(words)
  const list = useRef<HTMLOListElement>(null)
  const at = chosen?.position ?? null
  const newest = events.at(-1)?.position
  // The chosen event stays in view, otherwise the newest.
  useEffect(() => {
    const { current } = list
    if (!current || newest === undefined) return
    const item = current.querySelector<HTMLElement>(`[data-position="${at}"]`)
    current.scrollTop = item ? item.offsetTop - current.clientHeight / 2 : current.scrollHeight
  }, [at, newest])
  return (
    // It scrolls by keyboard.
    <ol ref={list} className={styles.list} tabIndex={0} aria-label={say.title}>
      {events.map(one => (
        <Event
          key={one.position}
          run={run}
          event={one}
          isChosen={one === chosen}
          isLater={at !== null && one.position > at}
        />
      ))}
    </ol>
  )
}

type EventProps = { run: RunRecord; event: RunEvent; isChosen: boolean; isLater: boolean }

function Event({ run, event, isChosen, isLater }: EventProps) {
  const language = useLanguage()
  const time = new Date(event.at)
  return (
    <li
      className={`${styles.event} ${isLater ? styles.later : ''}`}
      aria-current={isChosen || undefined}
      data-position={event.position}
    >
      <time className={styles.when} dateTime={event.at} title={time.toISOString()}>
        {time.toLocaleString(language, { dateStyle: 'short', timeStyle: 'medium' })}
      </time>
      <Link
        className={styles.what}
        to="/runs/$run_id/$tab"
        params={{ run_id: run.short_id, tab: 'events' }}
        search={old => ({ ...old, event: String(event.position) })}
        title={event.type}
        replace
      >
        {event.summary.replaceAll(run.run_id, run.short_id)}
      </Link>
      {isChosen && (
        <span className={styles.facts}>
          {Object.entries({ type: event.type, ...event.facts }).map(
            ([name, value]) =>
              value !== null && (
                <span key={name}>
                  {name}: {Array.isArray(value) ? value.join(', ') || '–' : String(value)}
                </span>
              ),
          )}
        </span>
      )}
    </li>
  )
}
