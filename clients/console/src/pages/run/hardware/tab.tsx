import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import type { HardwareAnswer } from '../../../../../../schemas/hardware.ts'
import { plainView } from '../../../charts/view.ts'
import type { Range } from '../../../charts/zoom.ts'
import { Badge } from '../../../design/badge.tsx'
import { Button } from '../../../design/button.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { Table } from '../../../design/table.tsx'
import { usePart } from '../../../design/use-part.ts'
import { reading } from '../../../session/api.ts'
import { bytesOf, shortNumber } from '../../../words/amounts.ts'
import { useLanguage, useWords, wordsOf } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { devicePlaceOf, type ReadingChart, readingChartsOf } from './readings.ts'
import styles from './tab.module.css'

const words = wordsOf({
  none: [
    'No readings yet. The Python client reports them automatically.',
    '还没有读数。Python 客户端会自动上报。',
  ],
  gpus: ['GPUs', 'GPU'],
  place: ['Where', '位置'],
  util: ['Used, %', '利用率 %'],
  idle: ['Idle', '空闲'],
  memory: ['Peak memory', '显存峰值'],
  power: ['Power, W', '功率 W'],
  temp: ['Hottest, °C', '最高温度 °C'],
  idleMark: ['idle', '空闲'],
  behind: ['straggler', '落后'],
  now: [(value: string) => `last ${value}`, (value: string) => `最新 ${value}`],
  all: ['Show all', '显示全部'],
  heat: ['Utilisation of each GPU over time', '各 GPU 随时间的利用率'],
})

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const answer = useQuery({
    ...reading<HardwareAnswer>(`${pathOfRun(run.run_id)}/hardware`, { buckets: 200 }),
    refetchInterval: run.ended_at === null ? 10_000 : false,
  })
  return (
    <Shown of={answer}>
      {data => (data.series.length === 0 ? <Empty text={say.none} /> : <Readings data={data} />)}
    </Shown>
  )
}

function Readings({ data }: { data: HardwareAnswer }) {
  const say = useWords(words)
  const charts = useMemo(() => readingChartsOf(data.series), [data.series])
  const [range, setRange] = useState<Range>(null)
  const [from, to] = [data.from ?? 0, data.to ?? 1]
  return (
    <div className={styles.tab}>
      {data.summary.gpus.length > 0 && <Gpus data={data} />}
      <HeatMap chart={charts.find(({ key }) => key === 'util_pct')} from={from} to={to} />
      {range !== null && (
        <p>
          <Button onClick={() => setRange(null)}>{say.all}</Button>
        </p>
      )}
      <div className={styles.charts}>
        {charts.map(chart => (
          <ReadingPlot key={chart.key} chart={chart} range={range} onZoom={setRange} />
        ))}
      </div>
    </div>
  )
}

const plotHeight = 240
const loadPlot = () => import('../../../charts/plot.tsx')

type PlotProps = { chart: ReadingChart; range: Range; onZoom: (range: Range) => void }

/** A reading over time, a line for each place; all of them are zoomed together. */
function ReadingPlot({ chart, range, onZoom }: PlotProps) {
  const say = useWords(words)
  const language = useLanguage()
  const plot = usePart(loadPlot)
  const { lines, limits } = chart
  const title = chart.title[language === 'zh' ? 1 : 0]
  const drawing = useMemo(
    () => ({
      ...plainView,
      x: 'time' as const,
      limits,
      range,
      lines,
      boundaries: [],
      lifted: null,
    }),
    [limits, range, lines],
  )
  const last = lines.length === 1 ? lines[0]?.last : null
  return (
    <figure className={styles.chart} aria-label={title}>
      <figcaption>
        <h3>{title}</h3>
        {last && typeof last.value === 'number' && (
          <span className={styles.soft}>{say.now(shortNumber(last.value, 4))}</span>
        )}
      </figcaption>
      {plot === null ? (
        <div style={{ height: plotHeight }} />
      ) : (
        <plot.Plot name={title} drawing={drawing} height={plotHeight} onZoom={onZoom} />
      )}
    </figure>
  )
}

/** A GPU idle for more than this share of its time is marked. */
const muchIdle = 0.5

function Gpus({ data }: { data: HardwareAnswer }) {
  const say = useWords(words)
  const { gpus, stragglers } = data.summary
  const rounded = (value: number | null) => value !== null && Math.round(value)
  const isBehind = (gpu: (typeof gpus)[number]) =>
    stragglers.some(({ node, index }) => node === gpu.node && index === gpu.index)
  return (
    <Panel title={say.gpus}>
      <Table
        caption={say.gpus}
        rows={gpus}
        keyOf={gpu => `${gpu.node} ${gpu.index} ${gpu.uuid}`}
        columns={[
          {
            key: 'place',
            title: say.place,
            cell: gpu => (
              <>
                {devicePlaceOf({ ...gpu, scope: 'gpu' })}{' '}
                {(gpu.idle_share ?? 0) > muchIdle && <Badge tone="warn">{say.idleMark}</Badge>}
                {isBehind(gpu) && <Badge tone="warn">{say.behind}</Badge>}
              </>
            ),
          },
          { key: 'util', title: say.util, isNumber: true, cell: gpu => rounded(gpu.util_mean_pct) },
          {
            key: 'idle',
            title: say.idle,
            isNumber: true,
            cell: gpu => gpu.idle_share !== null && `${Math.round(gpu.idle_share * 100)} %`,
          },
          {
            key: 'memory',
            title: say.memory,
            isNumber: true,
            cell: gpu => gpu.mem_peak_bytes !== null && bytesOf(gpu.mem_peak_bytes),
          },
          {
            key: 'power',
            title: say.power,
            isNumber: true,
            cell: gpu => rounded(gpu.power_mean_w),
          },
          { key: 'temp', title: say.temp, isNumber: true, cell: gpu => rounded(gpu.temp_peak_c) },
        ]}
      />
    </Panel>
  )
}

const cells = 60

type HeatProps = { chart: ReadingChart | undefined; from: number; to: number }

/** A row for each GPU; the fuller the colour, the busier it was. */
function HeatMap({ chart, from, to }: HeatProps) {
  const say = useWords(words)
  if (!chart || chart.lines.length < 2) return null
  const width = Math.max(1, to - from) / cells
  return (
    <Panel title={say.heat}>
      <svg
        role="img"
        aria-label={say.heat}
        className={styles.heat}
        viewBox={`0 0 ${cells} ${chart.lines.length}`}
        preserveAspectRatio="none"
        style={{ height: Math.min(320, 18 * chart.lines.length) }}
      >
        {chart.lines.flatMap(({ label, x, value }, row) =>
          x.map((at, nth) => (
            <rect
              key={`${label} ${at}`}
              x={Math.min(cells - 1, (at * 1000 - from) / width)}
              y={row}
              width={Math.max(1, cells / x.length)}
              height={0.92}
              fillOpacity={0.08 + (0.92 * (value[nth] ?? 0)) / 100}
            >
              <title>{`${label}: ${Math.round(value[nth] ?? 0)} %`}</title>
            </rect>
          )),
        )}
      </svg>
    </Panel>
  )
}
