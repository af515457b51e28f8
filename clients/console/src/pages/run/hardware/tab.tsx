import { useQuery } from '@tanstack/react-query'
import type { HardwareAnswer } from '../../../../../../schemas/hardware.ts'
import { Badge } from '../../../design/badge.tsx'
import { Empty, Shown } from '../../../design/notice.tsx'
import { Panel } from '../../../design/panel.tsx'
import { Table } from '../../../design/table.tsx'
import { reading } from '../../../session/api.ts'
import { bytesOf, shortNumber } from '../../../words/amounts.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import { pathOfRun, type RunRecord } from '../use-run.ts'
import { devicePlaceOf, type Small, smallsOf, svgPathOf } from './readings.ts'
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
  most: [(value: string) => `up to ${value}`, (value: string) => `最高 ${value}`],
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
  const smalls = smallsOf(data.series)
  const [from, to] = [data.from ?? 0, data.to ?? 1]
  return (
    <div className={styles.tab}>
      {data.summary.gpus.length > 0 && <Gpus data={data} />}
      <HeatMap small={smalls.find(({ key }) => key === 'util_pct')} from={from} to={to} />
      <div className={styles.smalls}>
        {smalls.map(small => (
          <SmallChart key={small.key} small={small} from={from} to={to} />
        ))}
      </div>
    </div>
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

/** A row for each GPU; the fuller the colour, the busier it was. */
function HeatMap({ small, from, to }: { small: Small | undefined; from: number; to: number }) {
  const say = useWords(words)
  if (!small || small.lines.length < 2) return null
  const width = Math.max(1, to - from) / cells
  return (
    <Panel title={say.heat}>
      <svg
        role="img"
        aria-label={say.heat}
        className={styles.heat}
        viewBox={`0 0 ${cells} ${small.lines.length}`}
        preserveAspectRatio="none"
        style={{ height: Math.min(320, 18 * small.lines.length) }}
      >
        {small.lines.flatMap(({ label, points }, row) =>
          points.map(([ts, value]) => (
            <rect
              key={`${label} ${ts}`}
              x={Math.min(cells - 1, (ts - from) / width)}
              y={row}
              width={Math.max(1, cells / points.length)}
              height={0.92}
              fillOpacity={0.08 + (0.92 * value) / 100}
            >
              <title>{`${label}: ${Math.round(value)} %`}</title>
            </rect>
          )),
        )}
      </svg>
    </Panel>
  )
}

const size = { width: 300, height: 70 }

function SmallChart({ small, from, to }: { small: Small; from: number; to: number }) {
  const say = useWords(words)
  const most = small.key.endsWith('_bytes') ? bytesOf(small.max) : shortNumber(small.max, 4)
  return (
    <figure className={styles.small}>
      <figcaption>
        <strong>{small.key}</strong> <span className={styles.soft}>{say.most(most)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={small.key}
        viewBox={`0 0 ${size.width} ${size.height}`}
        preserveAspectRatio="none"
        className={styles.lines}
      >
        {small.lines.map(({ label, points }, nth) => (
          <path
            key={label}
            d={svgPathOf(points, { from, to, max: small.max, ...size })}
            style={{ stroke: `var(--curve-${(nth % 10) + 1})` }}
          >
            <title>{label}</title>
          </path>
        ))}
      </svg>
    </figure>
  )
}
