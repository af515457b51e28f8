import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import { Num } from '../../design/number.tsx'
import { Ago, Length } from '../../design/time.tsx'
import { bytesOf, lengthOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { mainMetricOf } from '../run/main-metric.ts'
import { RowState } from '../run/row-state.tsx'
import { readWhilePointing } from '../run/while-pointing.ts'
import styles from './cell.module.css'
import { type FieldName, hparamOf, metricOf, valueOfHparam, valueOfMetric } from './columns.ts'

const cells: Readonly<Record<FieldName, (run: RunRow) => ReactNode>> = {
  name: run => (
    <Link
      to="/runs/$run_id"
      params={{ run_id: run.short_id }}
      tabIndex={-1}
      onPointerEnter={() => readWhilePointing(run)}
    >
      {visible(run.name ?? run.short_id)}
      {run.name !== null && <span className={styles.soft}> {run.short_id}</span>}
    </Link>
  ),
  state: run => <RowState run={run} tabIndex={-1} />,
  project: run => run.project,
  owner: run => run.owner,
  created_at: run => <Ago at={run.created_at} />,
  ended_at: run => run.ended_at !== null && <Ago at={run.ended_at} />,
  duration_s: run =>
    run.ended_at !== null
      ? run.duration_s !== null && lengthOf(run.duration_s)
      : // The clock of a waiting run, such as a paused one, does not advance; how long it ran is on its page.
        run.state === 'running' &&
        run.started_at !== null && <Length from={run.started_at} to={null} />,
  best: run => {
    const main = mainMetricOf(run)
    return main && <Num value={main.value} label={`${main.key} (${main.of})`} />
  },
  tags: run => visible(run.tags.join(', ')),
  notes: run =>
    run.notes !== '' && <span title={run.notes}>{visible(firstLineOf(run.notes))}</span>,
  recipe: run => run.recipe && `${run.recipe.name} ${run.recipe.version}`,
  points: run => run.counts.points.toLocaleString(),
  log_bytes: run => bytesOf(run.counts.log_bytes),
}

/** The value of a run in a column. */
export function cellOf(run: RunRow, column: string): ReactNode {
  const hparam = hparamOf(column)
  if (hparam !== null) {
    const value = valueOfHparam(run, hparam)
    return value !== undefined && <span title={value}>{value}</span>
  }
  const metric = metricOf(column)
  if (metric === null) return cells[column as FieldName](run)
  const value = valueOfMetric(run, metric)
  return value !== null && <Num value={value} />
}

const firstLineOf = (text: string): string => text.trim().split('\n', 1)[0] ?? ''
