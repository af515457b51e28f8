import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { Button } from '../design/button.tsx'
import { Checkbox, Select, TextField } from '../design/field.tsx'
import { matching } from '../words/matching.ts'
import { useWords, wordsOf } from '../words/words.ts'
import { Chart, type Lift } from './chart.tsx'
import styles from './chart-list.module.css'
import { type Filter, prefixOf, type XAxis } from './series.ts'
import type { GroupSource } from './use-group-lines.ts'
import type { Source } from './use-lines.ts'
import { type ChartView, plainView } from './view.ts'
import { asText, type Range, rangeFrom } from './zoom.ts'

const words = wordsOf({
  noneFound: ['No metric matches.', '没有匹配的指标。'],
  filter: ['Filter (text or /pattern/)', '筛选（文本或 /正则/）'],
  badPattern: ['Invalid pattern', '无法解析该正则'],
  x: ['Axis', '横轴'],
  step: ['Step', '步数'],
  relative: ['Time since the start', '相对时间'],
  time: ['Time', '时间'],
  smoothing: ['Smoothing', '平滑'],
  log: ['Log scale', '对数坐标'],
  all: ['Show all', '显示全部'],
  filterOf: ['Smoothing by', '平滑方式'],
  exponential: ['Exponential average', '指数平均'],
  gaussian: ['Gaussian', '高斯'],
  general: ['General', '常规'],
  settings: ['Chart settings', '图表设置'],
})

export type ChartOf = { title: string; keys: readonly string[] }

type Props = {
  keys: readonly string[]
  /** Groups keys that share a chart. */
  chartsOf: (keys: readonly string[]) => readonly ChartOf[]
  /** The runs whose curves a chart shows. */
  sourceOf: (chart: ChartOf) => Source | readonly Source[]
  /** The groups that a chart shows in place of the runs; null: none. */
  groupsOf?: (chart: ChartOf) => GroupSource | null
  lift?: Lift
  /** Further items of the menu of a chart. */
  actionsOf?: (chart: ChartOf) => ReactNode
  /** Shown before the charts, drawn like them. */
  before?: (view: ChartView, onZoom: (range: Range) => void) => ReactNode
  /** Shown next to the settings. */
  children?: ReactNode
}

/** Charts grouped by the prefixes of their keys, zoomed together. The address keeps which are open, and how they are drawn. */
export function ChartList(props: Props) {
  const { keys, chartsOf, sourceOf, groupsOf, lift, actionsOf, before, children } = props
  const say = useWords(words)
  const { keys: filter = '' } = useSearch({ strict: false })
  const [view, setRange] = useView()
  const found = matching(keys, filter)
  const charts = chartsOf(found ?? [])
  const groups = Map.groupBy(charts, ({ title }) => prefixOf(title))
  return (
    <div className={styles.list}>
      <Controls
        view={view}
        filter={filter}
        fault={found === null ? say.badPattern : null}
        onAll={() => setRange(null)}
      >
        {children}
      </Controls>
      {before?.(view, setRange)}
      {found?.length === 0 && <p>{say.noneFound}</p>}
      {[...groups].map(([prefix, own]) => (
        <details key={prefix} open className={styles.section}>
          <summary>
            <h2>{prefix === '' ? say.general : prefix}</h2>
            <span className={styles.count}>{own.length}</span>
          </summary>
          <div className={styles.charts}>
            {own.map(chart => (
              <Chart
                key={chart.title}
                title={chart.title}
                source={sourceOf(chart)}
                groups={groupsOf?.(chart) ?? null}
                actions={actionsOf?.(chart)}
                view={view}
                onZoom={setRange}
                {...(lift && { lift })}
              />
            ))}
          </div>
        </details>
      ))}
    </div>
  )
}

const axes = ['step', 'relative', 'time'] as const

/** The drawing settings in the address; charts follow a zoom at once, and the address follows them. */
function useView(): [ChartView, (range: Range) => void] {
  const { x, smooth, filter, log, range: kept } = useSearch({ strict: false })
  const set = useSetting()
  const [range, setRange] = useState(() => rangeFrom(kept))
  const view = useMemo(
    () => ({ ...viewFrom({ x, smooth, filter, log }), range }),
    [x, smooth, filter, log, range],
  )
  return [
    view,
    next => {
      setRange(next)
      set({ range: asText(next) })
    },
  ]
}

type Kept = Record<'x' | 'smooth' | 'filter' | 'log', string | undefined>

function viewFrom({ x, smooth, filter, log }: Kept): ChartView {
  const smoothing = Number(smooth ?? 0)
  return {
    ...plainView,
    x: axes.find(axis => axis === x) ?? 'step',
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : 0,
    filter: filter === 'gaussian' ? 'gaussian' : 'exponential',
    isLog: log === '1',
  }
}

function useSetting() {
  const navigate = useNavigate()
  return (change: Record<string, string | undefined>) =>
    void navigate({
      to: '.',
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
}

type ControlsProps = {
  view: ChartView
  filter: string
  fault: string | null
  onAll: () => void
  children: ReactNode
}

function Controls({ view, filter, fault, onAll, children }: ControlsProps) {
  const say = useWords(words)
  const set = useSetting()
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.controls}>
      <Button className={styles.toggle} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {say.settings}
      </Button>
      <div className={`${styles.settings} ${isOpen ? styles.open : ''}`}>
        <TextField
          label={say.filter}
          type="search"
          defaultValue={filter}
          fault={fault}
          onChange={event => set({ keys: event.target.value || undefined })}
        />
        <Select<XAxis>
          label={say.x}
          value={view.x}
          choices={axes.map(value => ({ value, text: say[value] }))}
          onChange={x => {
            onAll()
            set({ x: x === 'step' ? undefined : x, range: undefined })
          }}
        />
        <label className={styles.slider}>
          {say.smoothing}
          <input
            type="range"
            min={0}
            max={0.99}
            step={0.01}
            value={view.smoothing}
            onChange={event =>
              set({ smooth: event.target.value === '0' ? undefined : event.target.value })
            }
          />
        </label>
        {view.smoothing > 0 && (
          <Select<Filter>
            label={say.filterOf}
            value={view.filter}
            choices={(['exponential', 'gaussian'] as const).map(value => ({
              value,
              text: say[value],
            }))}
            onChange={filter => set({ filter: filter === 'exponential' ? undefined : filter })}
          />
        )}
        <Checkbox
          label={say.log}
          checked={view.isLog}
          onChange={event => set({ log: event.target.checked ? '1' : undefined })}
        />
      </div>
      {view.range && <Button onClick={onAll}>{say.all}</Button>}
      {children}
    </div>
  )
}
