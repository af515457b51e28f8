import { Link, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'
import { Badge } from '../../../design/badge.tsx'
import { Button } from '../../../design/button.tsx'
import { Select } from '../../../design/field.tsx'
import { Num } from '../../../design/number.tsx'
import { State } from '../../../design/state.tsx'
import { type Column, Table } from '../../../design/table.tsx'
import { Ago } from '../../../design/time.tsx'
import { bytesOf } from '../../../words/amounts.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { mainMetricOf } from '../main-metric.ts'
import type { RunRecord } from '../use-run.ts'
import { ArtifactActions } from './actions.tsx'
import { DeleteDialog, Deleted } from './deletion.tsx'
import type { LineageOfRun } from './lineage-of-run.ts'
import { isGoing, metricsOf, nameOfSorting, type SortKey, sorted, sortingOf } from './list.ts'
import styles from './tab.module.css'
import { useAddress } from './use-address.ts'
import { words } from './words.ts'

type Runs = LineageOfRun['runs']
type Props = { run: RunRecord; rows: readonly Artifact[]; runs: Runs; children: ReactNode }

/** A line for each artifact; some can be chosen and deleted together. `children` stand above, next to what else is set there. */
export function Artifacts({ run, rows, runs, children }: Props) {
  const say = useWords(words)
  const search = useSearch({ strict: false })
  const go = useAddress(run)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [deleting, setDeleting] = useState<readonly Artifact[] | null>(null)
  const [outcome, setOutcome] = useState<Parameters<typeof Deleted>[0] | null>(null)
  const keys = metricsOf(rows)
  const metric = keys.find(key => key === search.metric) ?? usualMetric(run, keys)
  const sorting = sortingOf(search.sort)
  const among = rows.filter(one => chosen.has(one.artifact_id) && !isGoing(one))
  const toggle = ({ artifact_id }: Artifact) =>
    setChosen(before =>
      before.has(artifact_id)
        ? new Set([...before].filter(one => one !== artifact_id))
        : new Set([...before, artifact_id]),
    )
  const columns = useColumns({
    run,
    runs,
    metric,
    isProtected: rows.some(one => one.protected_by.length > 0),
    chosen,
    toggle,
    onDelete: one => setDeleting([one]),
  })
  return (
    <>
      <div className={styles.tools}>
        {keys.length > 1 && (
          <Select
            label={say.metric}
            value={metric ?? ''}
            choices={keys.map(key => ({ value: key, text: visible(key) }))}
            onChange={key => go({ metric: key })}
          />
        )}
        {children}
        {among.length > 0 && (
          <>
            <span role="status">{say.chosen(among.length)}</span>
            <Button isDangerous onClick={() => setDeleting(among)}>
              {say.delete}
            </Button>
            <Button kind="quiet" onClick={() => setChosen(new Set())}>
              {say.clear}
            </Button>
          </>
        )}
      </div>
      {outcome !== null && <Deleted {...outcome} />}
      <Table
        caption={say.title}
        columns={columns}
        rows={sorted(rows, sorting, metric)}
        keyOf={({ artifact_id }) => artifact_id}
        sort={sorting}
        onSort={({ key, isDown }) => go({ sort: nameOfSorting({ key: key as SortKey, isDown }) })}
      />
      {deleting !== null && (
        <DeleteDialog
          artifacts={deleting}
          onClose={() => setDeleting(null)}
          onDone={(deleted, failed) => {
            setChosen(new Set())
            setOutcome({ deleted, failed })
          }}
        />
      )}
    </>
  )
}

/** The metric that the run is judged by, if its artifacts have it. */
function usualMetric(run: RunRecord, keys: readonly string[]): string | null {
  const main = mainMetricOf(run)?.key
  return keys.find(key => key === main) ?? keys[0] ?? null
}

type ColumnsProps = Pick<Props, 'run' | 'runs'> & {
  metric: string | null
  /** Whether something needs any of them. */
  isProtected: boolean
  chosen: ReadonlySet<string>
  toggle: (artifact: Artifact) => void
  onDelete: (artifact: Artifact) => void
}

function useColumns(props: ColumnsProps): Column<Artifact>[] {
  const { run, runs, metric, isProtected, chosen, toggle, onDelete } = props
  const say = useWords(words)
  return [
    {
      key: 'choose',
      title: '',
      cell: one =>
        !isGoing(one) && (
          <input
            type="checkbox"
            aria-label={say.choose(one.path)}
            checked={chosen.has(one.artifact_id)}
            onChange={() => toggle(one)}
          />
        ),
    },
    { key: 'path', title: say.path, canSort: true, cell: one => <Path artifact={one} /> },
    {
      key: 'kind',
      title: say.kind,
      canSort: true,
      cell: ({ kind, format }) => (
        <span className={styles.oneLine}>
          {kind} <span className={styles.soft}>{visible(format)}</span>
        </span>
      ),
    },
    { key: 'step', title: say.step, isNumber: true, canSort: true, cell: one => stepOf(one) },
    ...(metric === null
      ? []
      : [
          {
            key: 'metric',
            title: visible(metric),
            isNumber: true,
            canSort: true,
            cell: ({ metrics }: Artifact) => {
              const value = metrics[metric]
              return value !== undefined && <Num value={value} label={metric} />
            },
          },
        ]),
    {
      key: 'size',
      title: say.size,
      isNumber: true,
      canSort: true,
      cell: ({ size_bytes }) => size_bytes !== null && bytesOf(size_bytes),
    },
    { key: 'status', title: say.status, cell: one => <Status artifact={one} /> },
    ...(isProtected
      ? [
          {
            key: 'protected',
            title: say.protected,
            cell: (one: Artifact) => <Protection artifact={one} runs={runs} />,
          },
        ]
      : []),
    {
      key: 'created',
      title: say.by,
      canSort: true,
      cell: ({ created_at }) => <Ago at={created_at} />,
    },
    {
      key: 'do',
      title: '',
      cell: one => (
        <ArtifactActions artifact={one} project={run.project} onDelete={() => onDelete(one)} />
      ),
    },
  ]
}

const stepOf = ({ step }: Artifact) => step?.toLocaleString() ?? null

/** The folder gives way first: artifacts differ in the end of their paths. */
function Path({ artifact: { path } }: { artifact: Artifact }) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    <span className={styles.path} title={path}>
      <span className={styles.soft}>{visible(path.slice(0, path.length - name.length))}</span>
      <span>{visible(name)}</span>
    </span>
  )
}

function Status({ artifact }: { artifact: Artifact }) {
  const say = useWords(words)
  const { status, deleted_at, deleted_by } = artifact
  return (
    <span className={styles.oneLine}>
      <State state={status} />
      {marksOf(artifact).map(mark => (
        <Badge key={mark}>{say[mark]}</Badge>
      ))}
      {deleted_at !== null && (
        <span className={styles.soft}>
          <Ago at={deleted_at} /> {deleted_by !== null && say.deletedBy(deleted_by)}
        </span>
      )}
    </span>
  )
}

/** The first of the runs, models and deployments that need it; the others on hover. */
function Protection({ artifact, runs }: { artifact: Artifact; runs: Runs }) {
  const say = useWords(words)
  const [first, ...others] = artifact.protected_by
  if (first === undefined) return null
  const nameOf = ({ type, id }: Protector) =>
    type === 'model' || type === 'deployment'
      ? visible(id)
      : (runs.find(({ run_id }) => run_id === id)?.short_id ?? `…${id.slice(-6)}`)
  const why = ({ type }: Protector) => (type === 'init_from' ? say.startedFromIt : say[type])
  const isRun = first.type !== 'model' && first.type !== 'deployment'
  return (
    <span className={styles.oneLine}>
      <span>
        {isRun ? (
          <Link to="/runs/$run_id" params={{ run_id: first.id }}>
            {nameOf(first)}
          </Link>
        ) : (
          nameOf(first)
        )}{' '}
        {why(first)}
      </span>
      {others.length > 0 && (
        <span
          className={styles.soft}
          title={others.map(one => `${nameOf(one)} ${why(one)}`).join('\n')}
        >
          {say.andOthers(others.length)}
        </span>
      )}
    </span>
  )
}

type Protector = Artifact['protected_by'][number]

const marksOf = ({ is_best, is_latest }: Artifact) => [
  ...(is_best ? (['best'] as const) : []),
  ...(is_latest ? (['latest'] as const) : []),
]
