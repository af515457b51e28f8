import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'
import { Badge } from '../../../design/badge.tsx'
import { Copyable } from '../../../design/copy.tsx'
import { More } from '../../../design/more.tsx'
import { Empty, Shown, ShownRows } from '../../../design/notice.tsx'
import { State } from '../../../design/state.tsx'
import { type Column, Table } from '../../../design/table.tsx'
import { Ago } from '../../../design/time.tsx'
import { reading } from '../../../session/api.ts'
import { usePages } from '../../../session/use-pages.ts'
import { bytesOf } from '../../../words/amounts.ts'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { ArtifactActions } from './actions.tsx'
import { LineagePanel } from './lineage.tsx'
import type { Lineage } from './lineage-layout.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

/** The artifacts of a run, and the runs before and after it. */
export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { deleted } = useSearch({ strict: false })
  const navigate = useNavigate()
  const path = pathOfRun(run.run_id)
  const list = usePages<Artifact>(`${path}/artifacts`, {
    query: { status: deleted === undefined ? undefined : 'all' },
    size: 200,
    keyOf: ({ artifact_id }) => artifact_id,
    everyMs: 10_000,
  })
  const lineage = useQuery(reading<Lineage>(`${path}/lineage`))
  return (
    <div className={styles.tab}>
      <label className={styles.row}>
        <input
          type="checkbox"
          checked={deleted !== undefined}
          onChange={({ target }) =>
            void navigate({
              to: '/runs/$run_id/$tab',
              params: { run_id: run.short_id, tab: 'artifacts' },
              search: old => ({ ...old, deleted: target.checked ? '1' : undefined }),
              replace: true,
              resetScroll: false,
            })
          }
        />
        {say.showDeleted}
      </label>
      <ShownRows
        of={list}
        none={
          <Empty
            text={say.none}
            command={'forge.log_artifact("checkpoint", "model.pt", "torch", step=step)'}
          />
        }
      >
        {rows => (
          <>
            <Artifacts rows={rows} runs={lineage.data?.runs ?? []} />
            <More of={list} />
          </>
        )}
      </ShownRows>
      <Shown of={lineage}>
        {found => <LineagePanel lineage={found} artifacts={list.data ?? []} run={run} />}
      </Shown>
    </div>
  )
}

type Known = Lineage['runs']

const mostPath = 40
/** The end of a path, which differs between artifacts; one line in the table. */
const endOf = (path: string): string =>
  path.length <= mostPath ? path : `…${path.slice(-mostPath)}`

function Artifacts({ rows, runs }: { rows: readonly Artifact[]; runs: Known }) {
  const say = useWords(words)
  const columns: Column<Artifact>[] = [
    {
      key: 'path',
      title: say.path,
      cell: ({ path }) => (
        <span className={styles.path} title={path}>
          {visible(endOf(path))}
        </span>
      ),
    },
    { key: 'kind', title: say.kind, cell: ({ kind }) => kind },
    { key: 'format', title: say.format, cell: ({ format }) => format },
    { key: 'status', title: say.status, cell: one => <Status artifact={one} /> },
    { key: 'step', title: say.step, isNumber: true, cell: ({ step }) => step },
    {
      key: 'size',
      title: say.size,
      isNumber: true,
      cell: ({ size_bytes }) => size_bytes !== null && bytesOf(size_bytes),
    },
    {
      key: 'sha256',
      title: say.checksum,
      cell: ({ sha256 }) => sha256 && <Copyable text={sha256} shown={`${sha256.slice(0, 8)}…`} />,
    },
    { key: 'by', title: say.by, cell: ({ created_at }) => <Ago at={created_at} /> },
    {
      key: 'marks',
      title: say.marks,
      cell: one => marksOf(one).map(mark => <Badge key={mark}>{say[mark]}</Badge>),
    },
    {
      key: 'protected',
      title: say.protected,
      cell: one => <Protection artifact={one} runs={runs} />,
    },
    { key: 'do', title: '', cell: one => <ArtifactActions artifact={one} /> },
    {
      key: 'use',
      title: say.use,
      cell: ({ init_from }) =>
        init_from && (
          <Copyable
            text={`init_from: { artifact_id: ${init_from.artifact_id} }`}
            shown={`…${init_from.artifact_id.slice(-6)}`}
          />
        ),
    },
  ]
  return (
    <Table
      caption={say.title}
      columns={columns}
      rows={rows}
      keyOf={({ artifact_id }) => artifact_id}
    />
  )
}

function Status({ artifact: { status, deleted_at, deleted_by } }: { artifact: Artifact }) {
  const say = useWords(words)
  return (
    <>
      <State state={status} />
      {deleted_at !== null && (
        <span className={styles.soft}>
          {' '}
          <Ago at={deleted_at} /> {deleted_by !== null && say.deletedBy(deleted_by)}
        </span>
      )}
    </>
  )
}

/** The runs, models and deployments that need it, each with the reason. */
function Protection({ artifact, runs }: { artifact: Artifact; runs: Known }) {
  const say = useWords(words)
  if (artifact.protected_by.length === 0) return null
  return (
    <ul className={styles.list}>
      {artifact.protected_by.map(({ type, id }) => (
        <li key={`${type} ${id}`}>
          {type === 'model' || type === 'deployment' ? (
            visible(id)
          ) : (
            <Link to="/runs/$run_id" params={{ run_id: id }}>
              {runs.find(({ run_id }) => run_id === id)?.short_id ?? `…${id.slice(-6)}`}
            </Link>
          )}{' '}
          {type === 'init_from' ? say.startedFromIt : say[type]}
        </li>
      ))}
    </ul>
  )
}

const marksOf = ({ is_best, is_latest }: Artifact) => [
  ...(is_best ? (['best'] as const) : []),
  ...(is_latest ? (['latest'] as const) : []),
]
