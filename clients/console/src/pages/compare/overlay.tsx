import { ChartList } from '../../charts/chart-list.tsx'
import { Empty } from '../../design/notice.tsx'
import { useWords } from '../../words/words.ts'
import type { Comparison } from './comparison.ts'
import { words } from './words.ts'

/** Each metric of the runs in a chart of its own. */
export function Overlay({ data }: { data: Comparison }) {
  const say = useWords(words)
  if (data.metrics.length === 0) return <Empty text={say.noMetrics} />
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={data.metrics.map(({ key }) => key)}
        chartsOf={keys => keys.map(key => ({ title: key, keys: [key] }))}
        sourceOf={({ keys }) =>
          data.runs.map(({ run_id, short_id, created_at }) => ({
            runId: run_id,
            label: short_id,
            startMs: Date.parse(created_at),
            keys,
          }))
        }
      />
    </section>
  )
}
