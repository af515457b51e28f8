import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../design/button.tsx'
import { Failure } from '../design/notice.tsx'
import { Table } from '../design/table.tsx'
import { reading } from '../session/api.ts'
import { shortNumber } from '../words/amounts.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './chart.module.css'
import { Plot } from './plot.tsx'
import {
  keysParameter,
  type Line,
  labelIn,
  lineOf,
  type MetricSeries,
  type XAxis,
} from './series.ts'

const words = wordsOf({
  last: [
    (value: string, step: number) => `${value} at step ${step}`,
    (value: string, step: number) => `第 ${step} 步为 ${value}`,
  ],
  lines: [(n: number) => `${n} lines`, (n: number) => `${n} 条曲线`],
  nonfinite: [(n: number) => `${n} not finite`, (n: number) => `${n} 个非有限值`],
  table: ['Table', '表格'],
  chart: ['Chart', '图表'],
  image: ['PNG', 'PNG'],
  large: ['Large', '放大'],
  small: ['Small', '缩小'],
  x: ['At', '位置'],
  waiting: ['…', '…'],
})

export type Range = { from: number; to: number } | null

export type ChartView = { x: XAxis; isLog: boolean; smoothing: number; range: Range }

/** The keys of one run that a chart shows. `label` names them where several runs share it. */
export type Source = {
  runId: string
  startMs: number
  keys: readonly string[]
  label?: string
}

type Props = {
  title: string
  source: Source
  view: ChartView
  onZoom: (range: Range) => void
}

const buckets = 600
const height = 210
/** Of the rows of a table in place of a chart. */
const mostRows = 200

/** A chart of metrics, read and drawn once it is scrolled into view. */
export function Chart({ title, source, view, onZoom }: Props) {
  const say = useWords(words)
  const box = useRef<HTMLElement>(null)
  const isSeen = useSeen(box)
  const [isTable, setTable] = useState(false)
  const [isLarge, setLarge] = useState(false)
  const { lines, error } = useLines(source, view, isSeen)
  const drawing = { lines, x: view.x, isLog: view.isLog, smoothing: view.smoothing }
  return (
    <figure ref={box} className={`${styles.chart} ${isLarge ? styles.large : ''}`}>
      <figcaption className={styles.head}>
        <h3>{title}</h3>
        <span className={styles.last}>{useLast(lines)}</span>
        <Button kind="quiet" onClick={() => setTable(!isTable)}>
          {isTable ? say.chart : say.table}
        </Button>
        <Button kind="quiet" onClick={() => box.current && saveImage(box.current, title)}>
          {say.image}
        </Button>
        <Button kind="quiet" onClick={() => setLarge(!isLarge)}>
          {isLarge ? say.small : say.large}
        </Button>
      </figcaption>
      {error !== null && <Failure error={error} />}
      {lines.length === 0 ? (
        <div style={{ height }} className={styles.empty}>
          {say.waiting}
        </div>
      ) : isTable ? (
        <LineTable title={title} lines={lines} />
      ) : (
        <Plot name={title} drawing={drawing} height={isLarge ? 460 : height} onZoom={onZoom} />
      )}
    </figure>
  )
}

/** Whether an element has been in view, with some room around it. */
function useSeen(box: { current: HTMLElement | null }): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!box.current) return
    const watch = new IntersectionObserver(
      entries => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: '300px' },
    )
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [box])
  return isSeen
}

export const pathOfMetrics = (runId: string): string =>
  `/api/runs/${encodeURIComponent(runId)}/metrics`

function useLines({ runId, startMs, keys }: Source, { x, range }: ChartView, isSeen: boolean) {
  const inMs = (value: number) => (x === 'time' ? value * 1000 : startMs + value * 1000)
  const series = useQuery({
    ...reading<MetricSeries[]>(pathOfMetrics(runId), {
      keys: keysParameter(keys),
      buckets,
      ...(x !== 'step' && { x: 'time' }),
      ...(range && {
        from: x === 'step' ? Math.floor(range.from) : inMs(range.from),
        to: x === 'step' ? Math.ceil(range.to) : inMs(range.to),
      }),
    }),
    enabled: isSeen,
    placeholderData: before => before,
  })
  const lines = (series.data ?? []).map(one => lineOf(one, labelIn(keys, one.key), x, startMs))
  return { lines: useStable(lines, series.data), error: series.error }
}

/** The same list as before until what it was made of changes: a chart is drawn again for each new one. */
function useStable<T>(made: T, from: unknown): T {
  const kept = useRef({ made, from })
  if (kept.current.from !== from) kept.current = { made, from }
  return kept.current.made
}

function useLast(lines: readonly Line[]): string {
  const say = useWords(words)
  const [line] = lines
  if (lines.length !== 1 || !line) return lines.length > 1 ? say.lines(lines.length) : ''
  const at = line.value.findLastIndex(value => value !== null)
  const bad = line.nonfinite.reduce((sum, { count }) => sum + count, 0)
  return [
    ...(at >= 0 ? [say.last(shortNumber(line.value[at] ?? 0, 5), line.x[at] ?? 0)] : []),
    ...(bad > 0 ? [say.nonfinite(bad)] : []),
  ].join(' · ')
}

function LineTable({ title, lines }: { title: string; lines: readonly Line[] }) {
  const say = useWords(words)
  const places = [...new Set(lines.flatMap(({ x }) => x))].sort((a, b) => a - b)
  const stride = Math.max(1, Math.ceil(places.length / mostRows))
  const rows = places.filter((_, nth) => nth % stride === 0 || nth === places.length - 1)
  return (
    <div className={styles.table}>
      <Table
        caption={title}
        rows={rows}
        keyOf={String}
        columns={[
          { key: 'x', title: say.x, isNumber: true, cell: x => shortNumber(x, 9) },
          ...lines.map(line => ({
            key: line.label,
            title: line.label,
            isNumber: true,
            cell: (x: number) => shortOr(line.value[line.x.indexOf(x)]),
          })),
        ]}
      />
    </div>
  )
}

const shortOr = (value: number | null | undefined): string =>
  value == null ? '' : shortNumber(value)

function saveImage(box: HTMLElement, title: string): void {
  box.querySelector('canvas')?.toBlob(blob => {
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${title.replaceAll(/[^\w.-]+/g, '_')}.png`
    link.click()
    URL.revokeObjectURL(link.href)
  })
}
