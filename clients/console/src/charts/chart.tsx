import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../design/button.tsx'
import { Failure } from '../design/notice.tsx'
import { usePart } from '../design/use-part.ts'
import { addressOf } from '../session/api.ts'
import { download } from '../session/download.ts'
import { shortNumber } from '../words/amounts.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './chart.module.css'
import { saveImage } from './image.ts'
import { LineTable } from './line-table.tsx'
import { keysParameter, type Line, type XAxis } from './series.ts'
import { pathOfMetrics, type Source, useLines } from './use-lines.ts'
import type { Range } from './zoom.ts'

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
  csv: ['CSV', 'CSV'],
  large: ['Full screen', '全屏'],
  small: ['Leave full screen', '退出全屏'],
  waiting: ['…', '…'],
  none: ['No points here', '此处没有数据'],
})

export type ChartView = { x: XAxis; isLog: boolean; smoothing: number; range: Range }

type Props = {
  title: string
  /** Several where runs share a chart. */
  source: Source | readonly Source[]
  view: ChartView
  onZoom: (range: Range) => void
  lift?: Lift
}

/** The run that stands out in all charts, and how a chart says that another should. */
export type Lift = { runId: string | null; onHover: (runId: string | null) => void }

const height = 240
const loadPlot = () => import('./plot.tsx')
/** The part of a full-screen chart that is not the canvas. */
const aroundPlot = 110

/** A chart of metrics, read and drawn once it is scrolled into view. */
export function Chart({ title, source, view, onZoom, lift }: Props) {
  const box = useRef<HTMLElement>(null)
  const isInView = useInView(box)
  const isLarge = useFullScreen(box)
  // What draws is most of the code of a chart, and not needed for the page around it.
  const plot = usePart(loadPlot)
  const [isTable, setTable] = useState(false)
  const sources = 'runId' in source ? [source] : source
  const { lines, boundaries, isKnown, isBehind, error } = useLines(sources, view, isInView)
  const { x, isLog, smoothing, range } = view
  const lifted = lift?.runId ?? null
  const drawing = useMemo(
    () => ({ lines, x, isLog, smoothing, boundaries, range, lifted }),
    [lines, x, isLog, smoothing, boundaries, range, lifted],
  )
  return (
    <figure ref={box} className={styles.chart} aria-label={title} aria-busy={isBehind}>
      <Head
        {...{ title, lines, box, sources, isTable, isLarge }}
        onTable={() => setTable(!isTable)}
      />
      {error !== null && <Failure error={error} />}
      {!isKnown || plot === null ? (
        <Waiting />
      ) : isTable ? (
        <LineTable title={title} lines={lines} />
      ) : (
        <plot.Plot
          name={title}
          drawing={drawing}
          height={isLarge ? innerHeight - aroundPlot : height}
          onZoom={onZoom}
          {...(lift && { onHover: lift.onHover })}
        />
      )}
    </figure>
  )
}

const Waiting = () => {
  const say = useWords(words)
  return (
    <div style={{ height }} className={styles.empty}>
      {say.waiting}
    </div>
  )
}

type HeadProps = {
  title: string
  lines: readonly Line[]
  sources: readonly Source[]
  box: RefObject<HTMLElement | null>
  isTable: boolean
  isLarge: boolean
  onTable: () => void
}

type Saving = { file: 'image' | 'csv' | null; error: unknown }
const saved: Saving = { file: null, error: null }

function Head({ title, lines, sources, box, isTable, isLarge, onTable }: HeadProps) {
  const say = useWords(words)
  const [saving, setSaving] = useState<Saving>(saved)
  const save = (file: Saving['file'], saving: Promise<void>) => {
    setSaving({ file, error: null })
    saving.then(
      () => setSaving(saved),
      error => setSaving({ ...saved, error }),
    )
  }
  const onLarge = () =>
    isLarge ? document.exitFullscreen() : box.current?.requestFullscreen().catch(() => {})
  const button = (text: string, onClick: () => void, busy = false) => (
    <Button kind="quiet" busy={busy} aria-label={`${text}: ${title}`} onClick={onClick}>
      {text}
    </Button>
  )
  return (
    <figcaption className={styles.head}>
      <h3 title={title}>{title}</h3>
      <span className={styles.last}>{useLast(lines)}</span>
      {button(isTable ? say.chart : say.table, onTable)}
      {!isTable &&
        button(
          say.image,
          () => {
            const canvas = box.current?.querySelector('canvas')
            if (canvas) save('image', saveImage(canvas, title))
          },
          saving.file === 'image',
        )}
      {button(say.csv, () => save('csv', saveTables(sources, title)), saving.file === 'csv')}
      {button(isLarge ? say.small : say.large, () => void onLarge())}
      <Failure error={saving.error} />
    </figcaption>
  )
}

/** Every point of the chart, a file for each run. */
async function saveTables(sources: readonly Source[], title: string): Promise<void> {
  const name = title.replaceAll(/[^\w.-]+/g, '_')
  for (const { runId, keys, label } of sources) {
    const path = `${pathOfMetrics(runId)}/export`
    await download(
      addressOf(path, { keys: keysParameter(keys) }),
      `${[name, label].filter(Boolean).join('-')}.csv`,
    )
  }
}

const roomPx = 300

/** Whether an element is in or near the view: charts elsewhere are neither read nor refreshed. */
function useInView(box: RefObject<HTMLElement | null>): boolean {
  const [isInView, setInView] = useState(false)
  useLayoutEffect(() => {
    if (!box.current) return
    // The observer reports a frame later.
    setInView(box.current.getBoundingClientRect().top < innerHeight + roomPx)
    const watch = new IntersectionObserver(
      entries => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: `${roomPx}px` },
    )
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [box])
  return isInView
}

function useFullScreen(box: RefObject<HTMLElement | null>): boolean {
  const [isFull, setFull] = useState(false)
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement === box.current)
    document.addEventListener('fullscreenchange', changed)
    return () => document.removeEventListener('fullscreenchange', changed)
  }, [box])
  return isFull
}

function useLast(lines: readonly Line[]): string {
  const say = useWords(words)
  const [line] = lines
  if (lines.length !== 1 || !line) return lines.length > 1 ? say.lines(lines.length) : ''
  const { last } = line
  const bad = line.nonfinite.reduce((sum, { count }) => sum + count, 0)
  const shown = last && (typeof last.value === 'number' ? shortNumber(last.value, 5) : last.value)
  return [
    last ? say.last(String(shown), last.step) : say.none,
    ...(bad > 0 ? [say.nonfinite(bad)] : []),
  ].join(' · ')
}
