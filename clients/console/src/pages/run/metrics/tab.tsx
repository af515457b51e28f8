import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { metricKeyRow } from '../../../../../../schemas/metric-reads.ts'
import { Chart, type ChartView } from '../../../charts/chart.tsx'
import { chartsOf, prefixOf, type XAxis } from '../../../charts/series.ts'
import { pathOfMetrics } from '../../../charts/use-lines.ts'
import type { Range } from '../../../charts/zoom.ts'
import { Button } from '../../../design/button.tsx'
import { Copyable } from '../../../design/copy.tsx'
import { Select, TextField } from '../../../design/field.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { useLive, useThrottled } from '../../../live/use-live.ts'
import { reading, reread } from '../../../session/api.ts'
import { download } from '../../../session/download.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { useSource } from '../use-source.ts'
import { matching } from './filter.ts'
import styles from './tab.module.css'

const words = wordsOf({
  none: ['No metrics yet. Report some:', '还没有指标。上报示例：'],
  noneFound: ['No metric has such a name.', '没有匹配的指标。'],
  filter: ['Filter (a text, or /a pattern/)', '筛选（文本或 /正则/）'],
  badPattern: ['This pattern cannot be read', '无法解析该正则'],
  x: ['Axis', '横轴'],
  step: ['Step', '步数'],
  relative: ['Time since the start', '相对时间'],
  time: ['Time', '时间'],
  smoothing: ['Smoothing', '平滑'],
  log: ['Log scale', '对数坐标'],
  all: ['Show all', '显示全部'],
  csv: ['CSV of all points', '导出全部数据 (CSV)'],
  more: [(n: number) => `${n} more charts`, (n: number) => `还有 ${n} 个图表`],
  general: ['General', '常规'],
})

type KeyRow = Static<typeof metricKeyRow>

/** Charts that are there before somebody asks for more. */
const firstCharts = 60

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const keys = useQuery(reading<KeyRow[]>(`${pathOfMetrics(run.run_id)}/keys`))
  const again = useThrottled(() => void reread(pathOfMetrics(run.run_id)), 700)
  useLive(run.ended_at === null ? `metrics:${run.run_id}` : null, {
    onEvent: ({ event }) => event === 'points' && again(),
    onGap: again,
  })
  return (
    <Shown of={keys}>
      {rows =>
        rows.length === 0 ? (
          <Empty text={say.none}>
            <Copyable text={'forge.log({"loss": loss}, step)'} />
          </Empty>
        ) : (
          <Charts run={run} rows={rows} />
        )
      }
    </Shown>
  )
}

function Charts({ run, rows }: { run: RunRecord; rows: readonly KeyRow[] }) {
  const say = useWords(words)
  const { keys: filter = '' } = useSearch({ strict: false })
  const [range, setRange] = useState<Range>(null)
  const [shown, setShown] = useState(firstCharts)
  const settings = useSettings()
  const found = matching(
    rows.map(({ key }) => key),
    filter,
  )
  const charts = chartsOf(found ?? [])
  const groups = Map.groupBy(charts.slice(0, shown), ({ title }) => prefixOf(title))
  const source = useSource(run)
  const view = { ...settings, range }
  return (
    <div className={styles.tab}>
      <Controls
        run={run}
        view={view}
        filter={filter}
        fault={found === null ? say.badPattern : null}
        onAll={() => setRange(null)}
      />
      {found?.length === 0 && <p>{say.noneFound}</p>}
      {[...groups].map(([prefix, own]) => (
        <section key={prefix} className={styles.group}>
          <h2>{prefix === '' ? say.general : prefix}</h2>
          <div className={styles.charts}>
            {own.map(chart => (
              <Chart
                key={chart.title}
                title={chart.title}
                source={{ ...source, keys: chart.keys }}
                view={view}
                onZoom={setRange}
              />
            ))}
          </div>
        </section>
      ))}
      {charts.length > shown && (
        <Button onClick={() => setShown(shown + firstCharts)}>
          {say.more(charts.length - shown)}
        </Button>
      )}
    </div>
  )
}

const axes = ['step', 'relative', 'time'] as const

/** How charts are drawn; the address keeps it, so that a view can be sent to somebody. */
function useSettings(): Omit<ChartView, 'range'> {
  const { x, smooth, log } = useSearch({ strict: false })
  const smoothing = Number(smooth ?? 0)
  return {
    x: axes.find(axis => axis === x) ?? 'step',
    smoothing: smoothing >= 0 && smoothing < 1 ? smoothing : 0,
    isLog: log === '1',
  }
}

type ControlsProps = {
  run: RunRecord
  view: ChartView
  filter: string
  fault: string | null
  onAll: () => void
}

function Controls({ run, view, filter, fault, onAll }: ControlsProps) {
  const say = useWords(words)
  const navigate = useNavigate()
  const set = (change: Record<string, string | undefined>) =>
    void navigate({
      to: '/runs/$run_id/$tab',
      params: { run_id: run.short_id, tab: 'metrics' },
      search: old => ({ ...old, ...change }),
      replace: true,
    })
  return (
    <div className={styles.controls}>
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
          set({ x: x === 'step' ? undefined : x })
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
      <label>
        <input
          type="checkbox"
          checked={view.isLog}
          onChange={event => set({ log: event.target.checked ? '1' : undefined })}
        />{' '}
        {say.log}
      </label>
      {view.range && <Button onClick={onAll}>{say.all}</Button>}
      <Button
        onClick={() => void download(`${pathOfMetrics(run.run_id)}/export`, `${run.short_id}.csv`)}
      >
        {say.csv}
      </Button>
    </div>
  )
}
