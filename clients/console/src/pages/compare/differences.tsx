import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Checkbox } from '../../design/field.tsx'
import { Panel } from '../../design/panel.tsx'
import { State } from '../../design/state.tsx'
import { Table } from '../../design/table.tsx'
import { Length } from '../../design/time.tsx'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import type { Comparison } from './comparison.ts'
import styles from './page.module.css'
import { words } from './words.ts'

type Difference = Comparison['hparams'][number]

/** The runs, their metrics, and the settings in which they differ, or all settings on request. */
export function AllDifferences({ data, isAll }: { data: Comparison; isAll: boolean }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const ids = data.runs.map(({ short_id }) => short_id)
  const toggle = () =>
    void navigate({ to: '/compare', search: old => ({ ...old, all: isAll ? undefined : '1' }) })
  return (
    <>
      <Checkbox label={say.allRows} checked={isAll} onChange={toggle} />
      <Runs data={data} />
      <Differences
        title={isAll ? say.allHparams : say.hparams}
        ids={ids}
        rows={data.hparams}
        none={say.same}
      />
      <MetricTable data={data} ids={ids} />
      <Differences title={isAll ? say.allData : say.data} ids={ids} rows={data.data} />
      <Differences
        title={isAll ? say.allEnvironment : say.environment}
        ids={ids}
        rows={data.environment}
      />
    </>
  )
}

function Runs({ data }: { data: Comparison }) {
  const say = useWords(words)
  return (
    <Panel title={say.runs}>
      <Table
        caption={say.runs}
        rows={data.runs}
        keyOf={run => run.run_id}
        columns={[
          {
            key: 'run',
            title: say.run,
            cell: run => (
              <Link to="/runs/$run_id" params={{ run_id: run.short_id }}>
                {visible(run.name ?? '')} {run.short_id}
              </Link>
            ),
          },
          { key: 'state', title: say.state, cell: run => <State state={run.state} /> },
          { key: 'project', title: say.project, cell: run => run.project },
          { key: 'owner', title: say.owner, cell: run => run.owner },
          {
            key: 'duration',
            title: say.duration,
            isNumber: true,
            cell: run => run.started_at && <Length from={run.started_at} to={run.ended_at} />,
          },
        ]}
      />
    </Panel>
  )
}

type DifferencesProps = {
  title: string
  ids: readonly string[]
  rows: readonly Difference[]
  /** Shown instead of an empty table; without it, nothing is shown. */
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
          {
            key: 'key',
            title: say.name,
            cell: ({ key }) => <code className={styles.long}>{key}</code>,
          },
          ...ids.map((id, nth) => ({
            key: id,
            title: id,
            cell: ({ values }: Difference) => (
              <span className={styles.long}>{visible(String(values[nth] ?? '–'))}</span>
            ),
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
  const [isWhole, setWhole] = useState(false)
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
        rows={isWhole ? data.metrics : data.metrics.slice(0, shownRows)}
        keyOf={({ key }) => key}
        columns={[
          {
            key: 'key',
            title: isBest ? say.best : say.last,
            cell: ({ key }) => <code className={styles.long}>{key}</code>,
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
      {data.metrics.length > shownRows && !isWhole && (
        <Button onClick={() => setWhole(true)}>{say.more(data.metrics.length - shownRows)}</Button>
      )}
    </Panel>
  )
}
