import { useMemo, useState } from 'react'
import { Chart, type Lift } from '../charts/chart.tsx'
import type { GroupSource } from '../charts/use-group-lines.ts'
import type { Source } from '../charts/use-lines.ts'
import type { ChartView } from '../charts/view.ts'
import type { Range } from '../charts/zoom.ts'
import { Markdown } from '../design/markdown.tsx'
import { Table } from '../design/table.tsx'
import { visible } from '../words/visible.ts'
import { useWords } from '../words/words.ts'
import { nameOfAxis, type RunFacts, type Scalar } from './axis.ts'
import { Bars } from './bars.tsx'
import type { Drawn } from './board.tsx'
import { Frame } from './frame.tsx'
import { Importance } from './importance.tsx'
import type { PanelOf } from './panel.ts'
import styles from './panels.module.css'
import { Parallel } from './parallel.tsx'
import { Scatter } from './scatter.tsx'
import { words } from './words.ts'

type Curves = { source: readonly Source[]; groups: GroupSource | null }

export type Shared = {
  /** The settings of all charts, and their common zoom. */
  view: ChartView
  onZoom: (range: Range) => void
  lift: Lift
  runs: readonly RunFacts[]
  curvesOf: (keys: readonly string[]) => Curves
  /** Null for runs of several projects. */
  project: string | null
  q: string
  onOnly: ((runIds: readonly string[]) => void) | null
}

/** A panel of any kind. */
export function DrawnPanel({ drawn, shared }: { drawn: Drawn; shared: Shared }) {
  const { panel, title, height, actions } = drawn
  const { runs, project, q, lift, onOnly } = shared
  const common = { title, runs, lifted: lift.runId, onHover: lift.onHover }
  const tableOf = (axes: readonly string[]) => () => <Values {...{ title, runs, axes }} />
  switch (panel.kind) {
    case 'line':
      return <LinePanel {...drawn} panel={panel} shared={shared} />
    case 'scatter':
      return (
        <Frame
          {...{ title, height, actions }}
          table={tableOf([panel.x, panel.y, ...asList(panel.colour)])}
        >
          <Scatter
            {...common}
            panel={panel}
            height={height - (panel.colour === undefined ? 0 : 24)}
          />
        </Frame>
      )
    case 'bar':
      return (
        <Frame {...{ title, height, actions }} table={tableOf([panel.metric])}>
          <Bars {...common} panel={panel} />
        </Frame>
      )
    case 'parallel':
      return (
        <Frame
          {...{ title, height, actions }}
          table={tableOf([...panel.axes, ...asList(panel.colour)])}
        >
          <Parallel {...common} panel={panel} height={height - 34} onOnly={onOnly} />
        </Frame>
      )
    case 'importance':
      return (
        <Frame {...{ title, height, actions }} table={null}>
          <Importance {...{ panel, title, project, q }} />
        </Frame>
      )
    case 'note':
      return (
        <Frame {...{ title, height, actions }} table={null}>
          <Note text={panel.text} />
        </Frame>
      )
  }
}

const asList = (axis: string | undefined) => (axis === undefined ? [] : [axis])

function Note({ text }: { text: string }) {
  const say = useWords(words)
  return text === '' ? <p className={styles.empty}>{say.emptyNote}</p> : <Markdown text={text} />
}

type LineProps = Omit<Drawn, 'panel'> & { panel: PanelOf<'line'>; shared: Shared }

/** Curves with settings of their own; a different axis has its own zoom. */
function LinePanel({ panel, title, height, actions, shared }: LineProps) {
  const { view, onZoom, lift, curvesOf } = shared
  const { x = view.x, over = null, logX, logY, low, high, smooth, filter } = panel
  const isApart = over !== null || x !== view.x || logX === true
  const [ownRange, setOwnRange] = useState<Range>(null)
  const range = isApart ? ownRange : view.range
  const drawnAs = useMemo(
    () => ({
      ...{ x, xKey: over, range, isLogX: logX === true, isLog: logY ?? view.isLog },
      smoothing: smooth ?? view.smoothing,
      filter: filter ?? view.filter,
      limits: { low: low ?? null, high: high ?? null },
    }),
    [
      x,
      over,
      range,
      logX,
      logY,
      low,
      high,
      smooth,
      filter,
      view.isLog,
      view.smoothing,
      view.filter,
    ],
  )
  const { source, groups } = curvesOf(panel.keys)
  return (
    <Chart
      {...{ title, source, groups, lift, actions, height }}
      view={drawnAs}
      onZoom={isApart ? setOwnRange : onZoom}
    />
  )
}

type ValuesProps = { title: string; runs: readonly RunFacts[]; axes: readonly string[] }

/** The values of a panel, for people who prefer to read. */
function Values({ title, runs, axes }: ValuesProps) {
  const say = useWords(words)
  const shown = (value: Scalar) => (value === null ? '–' : visible(String(value)))
  return (
    <Table
      caption={title}
      rows={runs}
      keyOf={run => run.runId}
      columns={[
        { key: 'run', title: say.run, cell: run => visible(run.label) },
        ...[...new Set(axes)].map(axis => ({
          key: axis,
          title: nameOfAxis(axis),
          isNumber: true,
          cell: (run: RunFacts) => shown(run.valueOf(axis)),
        })),
      ]}
    />
  )
}
