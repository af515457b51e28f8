import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Plot } from '../../charts/plot.tsx'
import { keysParameter, lineOf, type MetricSeries } from '../../charts/series.ts'
import { pathOfMetrics } from '../../charts/use-lines.ts'
import type { Range } from '../../charts/zoom.ts'
import { Button } from '../../design/button.tsx'
import { Select } from '../../design/field.tsx'
import { Loading } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { reading } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { keyChartsOf } from '../run/overview/key-charts.ts'
import type { Comparison } from './comparison.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const buckets = 400

/** A metric of all runs in one chart. */
export function Overlay({ data }: { data: Comparison }) {
  const say = useWords(words)
  const keys = data.metrics.map(({ key }) => key)
  const [chosen, setChosen] = useState<string | null>(null)
  const [smoothing, setSmoothing] = useState(0)
  const [range, setRange] = useState<Range>(null)
  const key = chosen ?? keyChartsOf(keys)[0] ?? ''
  const series = useQueries({
    queries: data.runs.map(({ run_id }) => ({
      ...reading<MetricSeries[]>(pathOfMetrics(run_id), {
        keys: keysParameter([key]),
        buckets,
        ...(range && { from: Math.floor(range.from), to: Math.ceil(range.to) }),
      }),
      enabled: key !== '',
      placeholderData: (before: MetricSeries[] | undefined) => before,
    })),
    combine: results => results.map(({ data }) => data),
  })
  const lines = useMemo(
    () =>
      data.runs.flatMap(({ short_id, created_at }, nth) =>
        (series[nth] ?? []).map(one => lineOf(one, short_id, 'step', Date.parse(created_at))),
      ),
    [series, data],
  )
  const drawing = useMemo(
    () => ({ lines, x: 'step' as const, isLog: false, smoothing, boundaries: [] }),
    [lines, smoothing],
  )
  if (key === '') return null
  return (
    <Panel title={say.chart}>
      <div className={styles.chosen}>
        <Select
          label={say.metric}
          value={key}
          choices={keys.map(value => ({ value, text: value }))}
          onChange={next => {
            setRange(null)
            setChosen(next)
          }}
        />
        <label>
          {say.smoothing}{' '}
          <input
            type="range"
            min={0}
            max={0.99}
            step={0.01}
            value={smoothing}
            onChange={event => setSmoothing(Number(event.target.value))}
          />
        </label>
        {range && <Button onClick={() => setRange(null)}>{say.all}</Button>}
      </div>
      {lines.length === 0 ? (
        <Loading />
      ) : (
        <Plot name={key} drawing={drawing} height={360} onZoom={setRange} />
      )}
    </Panel>
  )
}
