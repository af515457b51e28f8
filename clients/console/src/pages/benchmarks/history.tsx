import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import type { HistoryRow } from '../../../../../schemas/benchmarks/catalogue.ts'
import layout from '../../design/layout.module.css'
import { ShownRows } from '../../design/notice.tsx'
import { useWidth } from '../../design/use-width.ts'
import { scaleOf } from '../../panels/scale.ts'
import { reading } from '../../session/api.ts'
import { shortNumber } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { rangeOf } from './error-bar.tsx'
import styles from './page.module.css'
import { words } from './words.ts'

const shownScores = 300
const curves = 10
const height = 240
const margin = { left: 56, right: 40, top: 12, bottom: 24 } as const

type Point = HistoryRow & { value: number }

const isPoint = (row: HistoryRow): row is Point => typeof row.value === 'number'

/** Pixels to the right of others that were recorded in the same second. */
const besideOf = (points: readonly Point[], nth: number): number =>
  7 * points.slice(0, nth).filter(one => one.recorded_at === points[nth]?.recorded_at).length

/** The scores over time, each with a whisker of one standard error to either side; a colour for each recipe or model. */
export function History({ path, version }: { path: string; version: number }) {
  const say = useWords(words)
  const rows = useQuery(reading<HistoryRow[]>(`${path}/history`, { version, limit: shownScores }))
  return (
    <section aria-label={say.history}>
      <h2>{say.history}</h2>
      <ShownRows of={rows} none={<p className={layout.soft}>{say.noResult}</p>}>
        {all => <Chart points={all.filter(isPoint).reverse()} />}
      </ShownRows>
    </section>
  )
}

function Chart({ points }: { points: readonly Point[] }) {
  const say = useWords(words)
  const language = useLanguage()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const range = rangeOf(points)
  const seriesOf = ({ recipe, model }: Point) => recipe ?? model ?? say.withoutRecipe
  const series = [...new Set(points.map(seriesOf))]
  const colourOf = (point: Point) =>
    `var(--curve-${(series.indexOf(seriesOf(point)) % curves) + 1})`
  const y = scaleOf(range ? [range.from, range.to] : [], false)
  const times = points.map(({ recorded_at }) => Date.parse(recorded_at))
  const x = scaleOf(times, false)
  const right = (at: number) => margin.left + at * (width - margin.left - margin.right)
  const up = (at: number) => height - margin.bottom - at * (height - margin.top - margin.bottom)
  const placeOf = (value: number) => up(y.placeOf(value) ?? 0)
  const day = (at: number) => new Date(at).toLocaleDateString(language)
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  return (
    <div ref={box}>
      <svg
        className={styles.history}
        role="img"
        aria-label={say.historyOf(points.length)}
        width={width}
        height={height}
      >
        {y.ticks.map(tick => (
          <g key={tick.text}>
            <line x1={right(0)} x2={right(1)} y1={up(tick.at)} y2={up(tick.at)} />
            <text x={margin.left - 6} y={up(tick.at) + 4} textAnchor="end">
              {tick.text}
            </text>
          </g>
        ))}
        <text x={right(0)} y={height - 6}>
          {day(first)}
        </text>
        {day(last) !== day(first) && (
          <text x={right(1)} y={height - 6} textAnchor="end">
            {day(last)}
          </text>
        )}
        {points.map((point, nth) => {
          const { value, stderr, run_id, result_id, recorded_at } = point
          const at = right(x.placeOf(Date.parse(recorded_at)) ?? 0.5) + besideOf(points, nth)
          const error = stderr ?? 0
          return (
            <g
              key={`${run_id} ${result_id} ${recorded_at} ${value}`}
              style={{ color: colourOf(point) }}
              opacity={point.is_current ? 1 : 0.4}
            >
              <line
                className={styles.whisker}
                x1={at}
                x2={at}
                y1={placeOf(value - error)}
                y2={placeOf(value + error)}
              />
              <circle cx={at} cy={placeOf(value)} r={4}>
                <title>
                  {`${visible(point.run_name)}: ${shortNumber(value, 4)}${stderr === null ? '' : ` ± ${shortNumber(stderr, 2)}`}`}
                </title>
              </circle>
            </g>
          )
        })}
      </svg>
      <ul className={styles.legend}>
        {series.map((name, nth) => (
          <li key={name}>
            <span style={{ background: `var(--curve-${(nth % curves) + 1})` }} /> {visible(name)}
          </li>
        ))}
      </ul>
    </div>
  )
}
