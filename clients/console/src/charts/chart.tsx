import Ellipsis from 'lucide-react/icons/ellipsis'
import {
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { Icon } from '../design/icon.tsx'
import { Menu, MenuItem } from '../design/menu.tsx'
import { Failure } from '../design/notice.tsx'
import { usePart } from '../design/use-part.ts'
import { addressOf } from '../session/api.ts'
import { shortNumber } from '../words/amounts.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './chart.module.css'
import type { Drawing } from './options.ts'
import { keysParameter, type Line } from './series.ts'
import { type GroupSource, useGroupLines } from './use-group-lines.ts'
import { pathOfMetrics, type Source, useLines } from './use-lines.ts'
import type { ChartView } from './view.ts'
import type { Range } from './zoom.ts'

const words = wordsOf({
  last: [
    (value: string, step: number) => `${value} at step ${step}`,
    (value: string, step: number) => `第 ${step} 步为 ${value}`,
  ],
  lines: [(n: number) => `${n} lines`, (n: number) => `${n} 条曲线`],
  nonfinite: [(n: number) => `${n} not finite`, (n: number) => `${n} 个非有限值`],
  table: ['Show as a table', '以表格显示'],
  chart: ['Show as a chart', '以图表显示'],
  menu: [(title: string) => `Actions: ${title}`, (title: string) => `操作：${title}`],
  image: ['Save as PNG', '保存为 PNG'],
  csv: ['Save as CSV', '保存为 CSV'],
  large: ['Full screen', '全屏'],
  small: ['Leave full screen', '退出全屏'],
  waiting: ['…', '…'],
  none: ['No points here', '此处没有数据'],
})

type Props = {
  title: string
  /** Several where runs share a chart. */
  source: Source | readonly Source[]
  /** Groups of runs in place of `source`. */
  groups?: GroupSource | null
  view: ChartView
  onZoom: (range: Range) => void
  lift?: Lift
  /** Further items of its menu. */
  actions?: ReactNode
  /** The height of the plot, in pixels. */
  height?: number
}

/** The run that stands out in all charts, and how a chart says that another should. */
export type Lift = { runId: string | null; onHover: (runId: string | null) => void }

/** The usual height of a plot. */
const usual = 240
const loadPlot = () => import('./plot.tsx')
const loadTable = () => import('./line-table.tsx')
/** The part of a full-screen chart that is not the canvas. */
const aroundPlot = 110

/** A chart of metrics, read and drawn once it is scrolled into view. */
export function Chart(props: Props) {
  const { title, height = usual } = props
  const box = useRef<HTMLElement>(null)
  const isInView = useInView(box)
  const wasInView = useRef(false)
  if (isInView) wasInView.current = true
  const [isBehind, setBehind] = useState<boolean | undefined>(undefined)
  return (
    <figure ref={box} className={styles.chart} aria-label={title} aria-busy={isBehind}>
      {wasInView.current ? (
        <Body {...props} box={box} isInView={isInView} onBehind={setBehind} />
      ) : (
        <>
          <figcaption className={styles.head}>
            <h3 title={title}>{title}</h3>
          </figcaption>
          <Waiting height={height} />
        </>
      )}
    </figure>
  )
}

type BodyProps = Props & {
  box: RefObject<HTMLElement | null>
  isInView: boolean
  onBehind: (isBehind: boolean) => void
}

const noSources: readonly Source[] = []

function Body(props: BodyProps) {
  const { title, source, groups = null, view, onZoom, lift, box, isInView, onBehind } = props
  const { actions, height = usual } = props
  const isLarge = useFullScreen(box)
  const [isTable, setTable] = useState(false)
  const given = 'runId' in source ? [source] : source
  const sources = groups === null ? given : noSources
  const ofRuns = useLines(sources, view, isInView)
  const ofGroups = useGroupLines(groups, view, isInView)
  const { lines, isKnown, isBehind, error } = groups === null ? ofRuns : ofGroups
  const boundaries = ofRuns.boundaries
  useEffect(() => onBehind(isBehind), [isBehind, onBehind])
  const drawing = useDrawing({ view, lines, boundaries, lifted: lift?.runId ?? null }, isInView)
  return (
    <>
      <Head
        {...{ title, lines, box, sources: given, isTable, isLarge, actions }}
        onTable={() => setTable(!isTable)}
      />
      {error !== null && <Failure error={error} />}
      {isKnown ? (
        <Content
          {...{ title, drawing, isTable, onZoom, lift }}
          height={isLarge ? innerHeight - aroundPlot : height}
        />
      ) : (
        <Waiting height={height} />
      )}
    </>
  )
}

type ContentProps = {
  title: string
  drawing: Drawing
  isTable: boolean
  height: number
  onZoom: (range: Range) => void
  lift: Lift | undefined
}

function Content({ title, drawing, isTable, height, onZoom, lift }: ContentProps) {
  // What draws is most of the code of a chart, and not needed for the page around it.
  const plot = usePart(loadPlot)
  const table = usePart(isTable ? loadTable : null)
  if (isEmpty(drawing)) return <Nothing height={height} />
  if (table) return <table.LineTable title={title} lines={drawing.lines} />
  if (isTable || plot === null) return <Waiting height={height} />
  return (
    <plot.Plot
      name={title}
      drawing={drawing}
      height={height}
      onZoom={onZoom}
      {...(lift && { onHover: lift.onHover })}
    />
  )
}

/** A zoomed chart keeps its axes, so that it can be left by a double click. */
const isEmpty = ({ lines, range }: Drawing) =>
  range === null && lines.length > 0 && lines.every(({ x }) => x.length === 0)

const Nothing = ({ height }: { height: number }) => {
  const say = useWords(words)
  return (
    <div style={{ height }} className={styles.empty}>
      {say.none}
    </div>
  )
}

type Given = Pick<Drawing, 'lines' | 'boundaries' | 'lifted'> & { view: ChartView }

/** The same object until something in it changes. Charts elsewhere are drawn again once they are scrolled into view. */
function useDrawing({ view, lines, boundaries, lifted }: Given, isInView: boolean): Drawing {
  const newest = useMemo(
    () => ({ ...view, lines, boundaries, lifted }),
    [view, lines, boundaries, lifted],
  )
  const drawn = useRef(newest)
  if (isInView) drawn.current = newest
  return drawn.current
}

const Waiting = ({ height }: { height: number }) => {
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
  actions: ReactNode
  onTable: () => void
}

type Saving = { isBusy: boolean; error: unknown }
const saved: Saving = { isBusy: false, error: null }

function Head({ title, lines, sources, box, isTable, isLarge, actions, onTable }: HeadProps) {
  const say = useWords(words)
  const [saving, setSaving] = useState<Saving>(saved)
  const save = (saving: Promise<void>) => {
    setSaving({ isBusy: true, error: null })
    saving.then(
      () => setSaving(saved),
      error => setSaving({ ...saved, error }),
    )
  }
  const onLarge = () =>
    isLarge ? document.exitFullscreen() : box.current?.requestFullscreen().catch(() => {})
  return (
    <>
      <figcaption className={styles.head} aria-busy={saving.isBusy || undefined}>
        <h3 title={title}>{title}</h3>
        <span className={styles.last}>{useLast(lines)}</span>
        <Menu label={say.menu(title)} isQuiet shown={<Icon of={Ellipsis} />}>
          <MenuItem onSelect={onTable}>{isTable ? say.chart : say.table}</MenuItem>
          <MenuItem onSelect={() => void onLarge()}>{isLarge ? say.small : say.large}</MenuItem>
          {!isTable && (
            <MenuItem
              onSelect={() => {
                const canvas = box.current?.querySelector('canvas')
                if (canvas) save(asImage(canvas, title))
              }}
            >
              {say.image}
            </MenuItem>
          )}
          <MenuItem onSelect={() => save(saveTables(sources, title))}>{say.csv}</MenuItem>
          {actions}
        </Menu>
      </figcaption>
      <Failure error={saving.error} />
    </>
  )
}

async function asImage(canvas: HTMLCanvasElement, title: string): Promise<void> {
  const { saveImage } = await import('./image.ts')
  await saveImage(canvas, title)
}

/** Every point of the chart, a file for each run. */
async function saveTables(sources: readonly Source[], title: string): Promise<void> {
  const { download } = await import('../session/download.ts')
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
  // A group has no last value of its own.
  if (line.isGroup) return line.label
  const { last } = line
  const bad = line.nonfinite.reduce((sum, { count }) => sum + count, 0)
  const shown = last && (typeof last.value === 'number' ? shortNumber(last.value, 5) : last.value)
  return [
    last ? say.last(String(shown), last.step) : say.none,
    ...(bad > 0 ? [say.nonfinite(bad)] : []),
  ].join(' · ')
}
