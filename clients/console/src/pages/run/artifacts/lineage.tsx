import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef } from 'react'
import type { Artifact } from '../../../../../../schemas/artifacts/artifacts.ts'
import { Button } from '../../../design/button.tsx'
import { Panel } from '../../../design/panel.tsx'
import { State } from '../../../design/state.tsx'
import { Table } from '../../../design/table.tsx'
import { visible } from '../../../words/visible.ts'
import { useWords } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { graphOf, type Lineage, type Node, nodeSize } from './lineage-layout.ts'
import styles from './tab.module.css'
import { words } from './words.ts'

type Props = { lineage: Lineage; run: RunRecord; artifacts: readonly Artifact[] }

/** The ancestors and descendants of a run: as a graph, or as a table. */
export function LineagePanel({ lineage, run, artifacts }: Props) {
  const say = useWords(words)
  const { lineage: form } = useSearch({ strict: false })
  const navigate = useNavigate()
  const nameOf = useArtifactNames(artifacts)
  const isTable = form === 'table'
  const toggle = () =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'artifacts' },
      search: old => ({ ...old, lineage: isTable ? undefined : 'table' }),
      replace: true,
      resetScroll: false,
    })
  const isAlone = lineage.edges.length === 0
  return (
    <Panel
      title={say.lineage}
      actions={!isAlone && <Button onClick={toggle}>{isTable ? say.asGraph : say.asTable}</Button>}
    >
      {isAlone && <p className={styles.soft}>{say.alone}</p>}
      {!isAlone &&
        (isTable ? (
          <LineageTable lineage={lineage} nameOf={nameOf} />
        ) : (
          <Graph lineage={lineage} nameOf={nameOf} />
        ))}
      {lineage.resumed.map(({ attempt, artifact_id }) => (
        <p key={attempt} className={styles.soft}>
          {say.resumed(attempt, nameOf(artifact_id))}
        </p>
      ))}
      {lineage.truncated && <p className={styles.soft}>{say.cut}</p>}
    </Panel>
  )
}

type NameOf = (artifactId: string) => string

/** Artifacts of this run are named by kind and step, others by the end of their ids. */
function useArtifactNames(artifacts: readonly Artifact[]): NameOf {
  const say = useWords(words)
  return id => {
    const known = artifacts.find(({ artifact_id }) => artifact_id === id)
    if (!known) return `…${id.slice(-6)}`
    return known.step === null ? known.kind : `${known.kind} · ${say.atStep(known.step)}`
  }
}

type View = { lineage: Lineage; nameOf: NameOf }

function Graph({ lineage, nameOf }: View) {
  const say = useWords(words)
  const graph = useMemo(() => graphOf(lineage), [lineage])
  const scroll = useRef<HTMLDivElement>(null)
  const own = graph.nodes.find(({ id }) => id === lineage.run_id)
  // Keeps the run itself in the middle of the view.
  useEffect(() => {
    const { current } = scroll
    if (!current || !own) return
    current.scrollLeft = own.x + nodeSize.width / 2 - current.clientWidth / 2
    current.scrollTop = own.y + nodeSize.height / 2 - current.clientHeight / 2
  }, [own])
  return (
    // It scrolls by keyboard.
    <div ref={scroll} className={styles.scroll} role="group" tabIndex={0} aria-label={say.lineage}>
      <div className={styles.graph} style={{ width: graph.width, height: graph.height }}>
        <svg width={graph.width} height={graph.height} aria-hidden="true">
          {graph.links.map(({ kind, from, to, path }) => (
            <path key={`${kind} ${from} ${to}`} d={path} />
          ))}
        </svg>
        {graph.nodes.map(node => (
          <NodeBox
            key={node.id}
            node={node}
            isOwn={node === own}
            nameOf={nameOf}
            how={[...new Set(lineage.edges.filter(({ to }) => to === node.id).map(e => e.kind))]}
          />
        ))}
      </div>
    </div>
  )
}

type BoxProps = {
  node: Node
  isOwn: boolean
  nameOf: NameOf
  how: readonly Lineage['edges'][number]['kind'][]
}

function NodeBox({ node, isOwn, nameOf, how }: BoxProps) {
  const say = useWords(words)
  const style = { left: node.x, top: node.y, ...nodeSize }
  if (node.kind === 'hidden')
    return (
      <div className={`${styles.node} ${styles.small}`} style={style} title={say.hidden}>
        <span className={styles.soft}>{say.hidden}</span>
      </div>
    )
  if (node.kind === 'artifact')
    return (
      <div className={`${styles.node} ${styles.small}`} style={style} title={node.artifactId}>
        <span>{nameOf(node.artifactId)}</span>
        {node.isDeleted && <span className={styles.soft}>{say.deleted}</span>}
      </div>
    )
  const { short_id, name, state } = node.run
  return (
    <Link
      className={styles.node}
      style={style}
      to="/runs/$run_id"
      params={{ run_id: short_id }}
      aria-current={isOwn || undefined}
      title={`${name ?? short_id} · ${state}`}
    >
      <span>{name === null ? short_id : `${short_id} · ${visible(name)}`}</span>
      <span className={styles.soft}>{[state, ...how.map(kind => say[kind])].join(' · ')}</span>
    </Link>
  )
}

function LineageTable({ lineage, nameOf }: View) {
  const say = useWords(words)
  const runs = new Map(lineage.runs.map(run => [run.run_id, run]))
  const linkOf = (id: string | null) => {
    const run = id === null ? undefined : runs.get(id)
    if (!run) return <span className={styles.soft}>{say.hidden}</span>
    return (
      <>
        <Link to="/runs/$run_id" params={{ run_id: run.short_id }}>
          {run.name === null ? run.short_id : `${run.short_id} · ${visible(run.name)}`}
        </Link>{' '}
        <State state={run.state} />
      </>
    )
  }
  return (
    <Table
      caption={say.lineage}
      rows={lineage.edges}
      keyOf={({ kind, from, to, artifact_id }) => [kind, from, to, artifact_id].join(' ')}
      columns={[
        { key: 'to', title: say.to, cell: ({ to }) => linkOf(to) },
        { key: 'how', title: say.how, cell: ({ kind }) => say[kind] },
        { key: 'from', title: say.from, cell: ({ from }) => linkOf(from) },
        {
          key: 'artifact',
          title: say.artifact,
          cell: ({ artifact_id, artifact_deleted }) =>
            artifact_id !== null && (
              <>
                {nameOf(artifact_id)}{' '}
                {artifact_deleted && <span className={styles.soft}>{say.deleted}</span>}
              </>
            ),
        },
      ]}
    />
  )
}
