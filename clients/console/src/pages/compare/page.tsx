import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Empty, Shown } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { reading } from '../../session/api.ts'
import { shortNumber } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import type { Comparison } from './comparison.ts'
import { Overlay } from './overlay.tsx'
import styles from './page.module.css'
import { Scatter } from './scatter.tsx'
import { words } from './words.ts'

type Difference = Comparison['hparams'][number]

/** What differs between 2 to 20 runs, and how their metrics went. */
export function Page() {
  const say = useWords(words)
  const { runs = '' } = useSearch({ strict: false })
  const ids = [...new Set(runs.split(',').filter(Boolean))]
  const found = useQuery({
    ...reading<Comparison>('/api/runs/compare', { ids: ids.join(',') }),
    enabled: ids.length >= 2,
    placeholderData: before => before,
  })
  return (
    <div className={styles.page}>
      <h1>{say.title}</h1>
      <Chosen ids={ids} />
      {ids.length < 2 ? (
        <Empty text={say.few}>
          <Link to="/runs">{say.choose}</Link>
        </Empty>
      ) : (
        <Shown of={found}>{data => <Found data={data} />}</Shown>
      )}
    </div>
  )
}

const most = 20

function Chosen({ ids }: { ids: readonly string[] }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const go = (next: readonly string[]) =>
    void navigate({ to: '/compare', search: { runs: next.join(',') } })
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const id = String(new FormData(event.currentTarget).get('id')).trim()
    if (id !== '') go([...ids, id])
    event.currentTarget.reset()
  }
  return (
    <div className={styles.chosen}>
      {ids.map((id, nth) => (
        <span key={id} className={styles.run}>
          <span className={styles.dot} style={{ background: `var(--curve-${(nth % 10) + 1})` }} />
          <Link to="/runs/$run_id" params={{ run_id: id }}>
            {id}
          </Link>
          <Button
            kind="quiet"
            aria-label={say.remove(id)}
            onClick={() => go(ids.filter(one => one !== id))}
          >
            ×
          </Button>
        </span>
      ))}
      <form onSubmit={add} className={styles.chosen}>
        <TextField label={say.add} name="id" placeholder="demo-12" />
        <Button type="submit" unless={ids.length >= most && say.enough}>
          {say.addButton}
        </Button>
      </form>
    </div>
  )
}

function Found({ data }: { data: Comparison }) {
  const say = useWords(words)
  const ids = data.runs.map(({ short_id }) => short_id)
  return (
    <>
      <Panel title={say.runs}>
        <Table
          caption={say.runs}
          rows={data.runs}
          keyOf={run => run.run_id}
          columns={[
            { key: 'run', title: say.run, cell: run => `${run.name ?? ''} ${run.short_id}` },
            { key: 'state', title: say.state, cell: run => <Badge state={run.state} /> },
            { key: 'project', title: say.project, cell: run => run.project },
            { key: 'owner', title: say.owner, cell: run => run.owner },
          ]}
        />
      </Panel>
      <Differences title={say.hparams} ids={ids} rows={data.hparams} none={say.same} />
      <MetricTable data={data} ids={ids} />
      <Overlay data={data} />
      <Scatter data={data} />
      <Differences title={say.data} ids={ids} rows={data.data} />
      <Differences title={say.environment} ids={ids} rows={data.environment} />
    </>
  )
}

type DifferencesProps = {
  title: string
  ids: readonly string[]
  rows: readonly Difference[]
  /** Said instead of an empty table; without it nothing is. */
  none?: string
}

const shownRows = 30

function Differences({ title, ids, rows, none }: DifferencesProps) {
  const say = useWords(words)
  const [isAll, setAll] = useState(false)
  if (rows.length === 0) return none === undefined ? null : <Panel title={title}>{none}</Panel>
  return (
    <Panel title={title}>
      <Table
        caption={title}
        rows={isAll ? rows : rows.slice(0, shownRows)}
        keyOf={({ key }) => key}
        columns={[
          { key: 'key', title: say.name, cell: ({ key }) => <code>{key}</code> },
          ...ids.map((id, nth) => ({
            key: id,
            title: id,
            cell: ({ values }: Difference) => String(values[nth] ?? '–'),
          })),
        ]}
      />
      {rows.length > shownRows && !isAll && (
        <Button onClick={() => setAll(true)}>{say.more(rows.length - shownRows)}</Button>
      )}
    </Panel>
  )
}

function MetricTable({ data, ids }: { data: Comparison; ids: readonly string[] }) {
  const say = useWords(words)
  const [isBest, setBest] = useState(false)
  const shown = (value: unknown) => (typeof value === 'number' ? shortNumber(value, 5) : '–')
  if (data.metrics.length === 0) return null
  return (
    <Panel
      title={say.metrics}
      actions={
        <Button onClick={() => setBest(!isBest)}>{isBest ? say.showLast : say.showBest}</Button>
      }
    >
      <Table
        caption={say.metrics}
        rows={data.metrics.slice(0, 100)}
        keyOf={({ key }) => key}
        columns={[
          {
            key: 'key',
            title: isBest ? say.best : say.last,
            cell: ({ key }) => <code>{key}</code>,
          },
          ...ids.map((id, nth) => ({
            key: id,
            title: id,
            isNumber: true,
            cell: ({ last, best }: Comparison['metrics'][number]) =>
              shown((isBest ? best : last)[nth]),
          })),
        ]}
      />
    </Panel>
  )
}
