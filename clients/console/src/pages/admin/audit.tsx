import { useQueries } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { AuditRow } from '../../../../../schemas/audit.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Id } from '../../design/id.tsx'
import { More } from '../../design/more.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { Ago } from '../../design/time.tsx'
import { addressOf, reading } from '../../session/api.ts'
import { saveText } from '../../session/download.ts'
import { request } from '../../session/session.ts'
import { usePages } from '../../session/use-pages.ts'
import { useWords } from '../../words/words.ts'
import { csvOf } from './csv.ts'
import { folded, instantOf, localOf, named, runsIn } from './folded.ts'
import styles from './page.module.css'
import { Verification } from './verification.tsx'
import { words } from './words.ts'

const filters = ['actor', 'type', 'target', 'since', 'until'] as const
/** The limit of one export; the command line exports the audit without one. */
const mostExported = 20_000

export const Section = () => (
  <>
    <Events />
    <Verification />
  </>
)

/** Who did what, newest first. */
function Events() {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const filter = Object.fromEntries(filters.map(name => [name, search[name]]))
  const form = useRef<HTMLFormElement>(null)
  const asked = JSON.stringify(filter)
  // Going back changes the address but not the form. A key would fix that, but lose the focus while somebody searches.
  useEffect(() => {
    if (asked !== undefined) form.current?.reset()
  }, [asked])
  const found = usePages<AuditRow>('/api/audit', {
    ...{ query: filter, size: 100, keyOf: ({ event_id }: AuditRow) => event_id },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    void navigate({
      to: '/admin/$section',
      params: { section: 'audit' },
      search: Object.fromEntries(
        filters.map(name => {
          const text = String(given.get(name)).trim()
          return [name, isTime(name) ? instantOf(text) : text || undefined]
        }),
      ),
    })
  }
  return (
    <Panel title={say.audit} actions={<Export filter={filter} />}>
      <form ref={form} role="search" className={styles.filters} onSubmit={submit}>
        {filters.map(name => (
          <TextField
            key={name}
            label={say[name]}
            name={name}
            {...(isTime(name)
              ? { type: 'datetime-local', defaultValue: localOf(search[name]) }
              : { defaultValue: search[name], placeholder: examples[name] })}
          />
        ))}
        <Button type="submit">{say.find}</Button>
      </form>
      <Shown of={found}>
        {rows => (
          <>
            <Lines rows={rows} />
            <More of={found} />
          </>
        )}
      </Shown>
    </Panel>
  )
}

const isTime = (name: (typeof filters)[number]) => name === 'since' || name === 'until'

const mostNames = 30

/** One line for each event, and one for all that a run says in the same way; ids of runs are shown as their short ids. */
function Lines({ rows }: { rows: readonly AuditRow[] }) {
  const say = useWords(words)
  const ids = runsIn(rows, mostNames)
  const runs = useQueries({
    queries: ids.map(id => reading<{ short_id: string }>(`/api/runs/${id}`)),
  })
  const names = new Map(ids.flatMap((id, nth) => [[id, runs[nth]?.data?.short_id ?? id] as const]))
  const shown = (text: string) => (
    <span className={styles.oneLine} title={text}>
      {named(text, names)}
    </span>
  )
  return (
    <Table
      caption={say.audit}
      rows={folded(rows)}
      keyOf={({ row }) => row.event_id}
      columns={[
        {
          key: 'at',
          title: say.when,
          cell: ({ row }) => (
            <span className={styles.when}>
              <Ago at={row.occurred_at} />
            </span>
          ),
        },
        {
          key: 'what',
          title: say.what,
          cell: ({ row, rows: { length } }) => (
            <span className={styles.what}>
              {shown(row.summary)}
              {length > 1 && <Badge>×{length}</Badge>}
            </span>
          ),
        },
        {
          key: 'actor',
          title: say.actor,
          cell: ({ row: { actor } }) => shown(`${actor.id} (${actor.via})`),
        },
        {
          key: 'target',
          title: say.target,
          cell: ({ row: { target } }) => shown(`${target.type}:${target.id}`),
        },
        {
          key: 'request',
          title: say.requestId,
          cell: ({ row }) => <Id id={row.request_id} most={12} />,
        },
      ]}
    />
  )
}

const examples: Record<(typeof filters)[number], string> = {
  actor: 'user:ada',
  type: 'job.*',
  target: 'job:run_01…',
  since: '',
  until: '',
}

function Export({ filter }: { filter: Readonly<Record<string, string | undefined>> }) {
  const say = useWords(words)
  const [error, setError] = useState<unknown>(null)
  const [done, setDone] = useState<number | null>(null)
  const save = async (form: 'csv' | 'jsonl') => {
    setError(null)
    try {
      const rows: AuditRow[] = []
      while (rows.length < mostExported) {
        const query = { ...filter, limit: 500, offset: rows.length }
        const part = await request<AuditRow[]>('GET', addressOf('/api/audit', query))
        // A page of very large events is shorter than requested.
        if (part.length === 0) break
        rows.push(...part)
        setDone(rows.length)
      }
      const text =
        form === 'csv' ? csvOf(rows) : rows.map(row => `${JSON.stringify(row)}\n`).join('')
      saveText(`audit.${form}`, text)
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <>
      <Button onClick={() => void save('csv')}>CSV</Button>
      <Button onClick={() => void save('jsonl')}>JSONL</Button>
      {done !== null && <span role="status">{say.exported(done)}</span>}
      <Failure error={error} />
    </>
  )
}
