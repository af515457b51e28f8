import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useMemo, useRef } from 'react'
import type { LineageGraph, LineageNode } from '../../../../schemas/lineage.ts'
import { Button } from '../design/button.tsx'
import { Shown } from '../design/notice.tsx'
import { Panel } from '../design/panel.tsx'
import { State } from '../design/state.tsx'
import { Table } from '../design/table.tsx'
import { reading } from '../session/api.ts'
import { stateText } from '../words/states.ts'
import { visible } from '../words/visible.ts'
import { useLanguage, useWords } from '../words/words.ts'
import { drawingOf, nodeSize, type Placed } from './layout.ts'
import styles from './lineage.module.css'
import { words } from './words.ts'

type Props = {
  /** The part of `/api/lineage/…` that names the thing. */
  path: string
  children?: ReactNode
}

/** The origins and results of a thing, from data over runs and models to deployments: as a graph, or as a table. */
export function LineagePanel({ path, children }: Props) {
  const say = useWords(words)
  const { lineage: form } = useSearch({ strict: false })
  const navigate = useNavigate()
  const found = useQuery(reading<LineageGraph>(`/api/lineage/${path}`))
  const isTable = form === 'table'
  const toggle = () =>
    void navigate({
      to: '.',
      search: old => ({ ...old, lineage: isTable ? undefined : 'table' }),
      replace: true,
      resetScroll: false,
    })
  const isAlone = found.data?.edges.length === 0
  const actions = found.data && !isAlone && (
    <Button onClick={toggle}>{isTable ? say.asGraph : say.asTable}</Button>
  )
  return (
    <Panel title={say.lineage} actions={actions}>
      <Shown of={found}>
        {graph => (
          <>
            {graph.edges.length === 0 && <p className={styles.soft}>{say.alone}</p>}
            {graph.edges.length > 0 &&
              (isTable ? <LineageTable graph={graph} /> : <Graph graph={graph} />)}
            {graph.truncated && <p className={styles.soft}>{say.cut}</p>}
          </>
        )}
      </Shown>
      {children}
    </Panel>
  )
}

function Graph({ graph }: { graph: LineageGraph }) {
  const say = useWords(words)
  const drawing = useMemo(() => drawingOf(graph), [graph])
  const scroll = useRef<HTMLDivElement>(null)
  const own = drawing.nodes.find(({ id }) => id === graph.id)
  // Keeps the thing itself in the middle of the view.
  useEffect(() => {
    const { current } = scroll
    if (!current || !own) return
    current.scrollLeft = own.x + nodeSize.width / 2 - current.clientWidth / 2
    current.scrollTop = own.y + nodeSize.height / 2 - current.clientHeight / 2
  }, [own])
  return (
    // It scrolls by keyboard.
    <div ref={scroll} className={styles.scroll} role="group" tabIndex={0} aria-label={say.lineage}>
      <div className={styles.graph} style={{ width: drawing.width, height: drawing.height }}>
        <svg width={drawing.width} height={drawing.height} aria-hidden="true">
          {drawing.links.map(({ kind, from, to, path }) => (
            <path key={`${kind} ${from} ${to}`} d={path} />
          ))}
        </svg>
        {drawing.nodes.map(node => {
          const into = graph.edges.filter(({ to }) => to === node.id)
          const how = [...new Set(into.map(({ kind }) => say[kind]))]
          return <NodeBox key={node.id} node={node} isOwn={node === own} how={how} />
        })}
      </div>
    </div>
  )
}

function NodeBox({ node, isOwn, how }: { node: Placed; isOwn: boolean; how: readonly string[] }) {
  const say = useWords(words)
  const detail = useDetail(node)
  const style = { left: node.x, top: node.y, ...nodeSize }
  if (node.type === 'hidden')
    return (
      <div className={`${styles.node} ${styles.small}`} style={style} title={say.hidden}>
        <span className={styles.soft}>{say.hidden}</span>
      </div>
    )
  const name = visible(node.name ?? '')
  const inside = (
    <>
      <span>{name}</span>
      <span className={styles.soft}>{[say[node.type], ...detail, ...how].join(' · ')}</span>
    </>
  )
  const shown = {
    style,
    title: [name, ...detail].join(' · '),
    'aria-current': isOwn || undefined,
  }
  return (
    <NodeLink
      node={node}
      {...shown}
      className={`${styles.node} ${node.type === 'artifact' ? styles.small : ''}`}
    >
      {inside}
    </NodeLink>
  )
}

/** The state, and the traffic of a deployment. */
function useDetail({ state, traffic }: LineageNode): string[] {
  const say = useWords(words)
  const language = useLanguage()
  const requests =
    traffic && say.requests(traffic.requests.toLocaleString(language), traffic.requests)
  return [state === null ? null : stateText(state, language), requests].flatMap(text => text ?? [])
}

type NodeLinkProps = {
  node: LineageNode
  children: ReactNode
  className?: string
  style?: { left: number; top: number }
  title?: string
  'aria-current'?: true | undefined
}

/** Artifacts have no page of their own; the node before them links to the page of their run. */
function NodeLink({ node: { type, ref }, children, ...shown }: NodeLinkProps) {
  if (type === 'run')
    return (
      <Link to="/runs/$run_id" params={{ run_id: ref ?? '' }} {...shown}>
        {children}
      </Link>
    )
  if (type === 'dataset') {
    const [owner = '', name = '', version = ''] = (ref ?? '').split(/[/@]/)
    return (
      <Link to="/datasets/$owner/$name" params={{ owner, name }} search={{ version }} {...shown}>
        {children}
      </Link>
    )
  }
  if (type === 'environment') {
    const [owner = '', name = '', version = ''] = (ref ?? '').split(/[/@]/)
    return (
      <Link
        to="/environments/$owner/$name"
        params={{ owner, name }}
        search={{ version }}
        {...shown}
      >
        {children}
      </Link>
    )
  }
  if (type === 'model') {
    const [model = '', version = ''] = (ref ?? '').split('@')
    return (
      <Link to="/models/$model" params={{ model }} search={{ version }} {...shown}>
        {children}
      </Link>
    )
  }
  if (type === 'deployment')
    return (
      <Link to="/deployments/$deployment_id" params={{ deployment_id: ref ?? '' }} {...shown}>
        {children}
      </Link>
    )
  if (type === 'hub')
    return (
      <Link to="/hub-imports" {...shown}>
        {children}
      </Link>
    )
  return <div {...shown}>{children}</div>
}

function LineageTable({ graph: { nodes, edges } }: { graph: LineageGraph }) {
  const say = useWords(words)
  const byId = new Map(nodes.map(node => [node.id, node]))
  const cell = (id: string) => {
    const node = byId.get(id)
    if (!node || node.type === 'hidden') return <span className={styles.soft}>{say.hidden}</span>
    return (
      <>
        <span className={styles.soft}>{say[node.type]}</span>{' '}
        <NodeLink node={node}>{visible(node.name ?? '')}</NodeLink>
      </>
    )
  }
  return (
    <Table
      caption={say.lineage}
      rows={edges}
      keyOf={({ kind, from, to }) => [kind, from, to].join(' ')}
      columns={[
        { key: 'from', title: say.from, cell: ({ from }) => cell(from) },
        { key: 'how', title: say.how, cell: ({ kind }) => say[kind] },
        { key: 'to', title: say.to, cell: ({ to }) => cell(to) },
        {
          key: 'state',
          title: say.state,
          cell: ({ to }) => {
            const { state = null, type } = byId.get(to) ?? {}
            return state !== null && type !== 'hidden' && <State state={state} />
          },
        },
      ]}
    />
  )
}
