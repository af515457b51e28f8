import { useNavigate, useSearch } from '@tanstack/react-router'
import { Select } from '../../design/field.tsx'
import { Empty } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { Table } from '../../design/table.tsx'
import { shortNumber } from '../../words/amounts.ts'
import { useWords } from '../../words/words.ts'
import { keyChartsOf } from '../run/overview/key-charts.ts'
import type { Comparison } from './comparison.ts'
import { type Dot, dotsOf, numericOf, placeAmong } from './dots.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const [width, height, margin] = [600, 260, 40]

/** A hyperparameter against the best of a metric. */
export function Scatter({ data }: { data: Comparison }) {
  const say = useWords(words)
  const parameters = numericOf(data)
  const metrics = data.metrics.map(({ key }) => key)
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const parameter = search.parameter ?? parameters[0] ?? ''
  const metric = search.metric ?? keyChartsOf(metrics)[0] ?? ''
  const set = (change: Record<string, string>) =>
    void navigate({
      to: '/compare',
      search: old => ({ ...old, ...change }),
      replace: true,
      resetScroll: false,
    })
  const dots = dotsOf(data, parameter, metric)
  if (dots.length < 2 && search.parameter === undefined && search.metric === undefined)
    return <Empty text={say.noDots} />
  return (
    <Panel title={say.scatter}>
      <div className={styles.chosen}>
        <Select
          label={say.parameter}
          value={parameter}
          choices={parameters.map(value => ({ value, text: value }))}
          onChange={value => set({ parameter: value })}
        />
        <Select
          label={say.metric}
          value={metric}
          choices={metrics.map(value => ({ value, text: value }))}
          onChange={value => set({ metric: value })}
        />
      </div>
      {dots.length === 0 ? (
        <Empty text={say.noDots} />
      ) : (
        <Dots dots={dots} parameter={parameter} metric={metric} />
      )}
    </Panel>
  )
}

type DotsProps = { dots: readonly Dot[]; parameter: string; metric: string }

function Dots({ dots, parameter, metric }: DotsProps) {
  const say = useWords(words)
  const x = placeAmong(dots.map(dot => dot.x))
  const y = placeAmong(dots.map(dot => dot.y))
  const [xs, ys] = [dots.map(dot => dot.x), dots.map(dot => dot.y)]
  return (
    <>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${metric} / ${parameter}`}
        className={styles.scatter}
      >
        <line x1={margin} x2={width - margin} y1={height - margin} y2={height - margin} />
        <line x1={margin} x2={margin} y1={10} y2={height - margin} />
        <text x={margin} y={height - 20}>
          {shortNumber(Math.min(...xs), 4)}
        </text>
        <text x={width - margin} y={height - 20} textAnchor="end">
          {shortNumber(Math.max(...xs), 4)}
        </text>
        <text x={width / 2} y={height - 5} textAnchor="middle">
          {parameter}
        </text>
        <text x={4} y={height - margin}>
          {shortNumber(Math.min(...ys), 3)}
        </text>
        <text x={4} y={18}>
          {shortNumber(Math.max(...ys), 3)}
        </text>
        {dots.map(dot => (
          <circle
            key={dot.shortId}
            cx={margin + 10 + x(dot.x) * (width - 2 * margin - 20)}
            cy={height - margin - 10 - y(dot.y) * (height - margin - 30)}
            r={6}
            style={{ fill: `var(--curve-${(dot.nth % 10) + 1})` }}
          >
            <title>{`${dot.shortId}: ${dot.x}, ${dot.y}`}</title>
          </circle>
        ))}
      </svg>
      <details>
        <summary>{say.asTable}</summary>
        <Table
          caption={say.scatter}
          rows={dots}
          keyOf={dot => dot.shortId}
          columns={[
            { key: 'run', title: say.run, cell: dot => dot.shortId },
            { key: 'x', title: parameter, isNumber: true, cell: dot => shortNumber(dot.x, 5) },
            { key: 'y', title: metric, isNumber: true, cell: dot => shortNumber(dot.y, 5) },
          ]}
        />
      </details>
    </>
  )
}
