import { useEffect } from 'react'
import { ChartList } from '../../charts/chart-list.tsx'
import { pathOfMetrics } from '../../charts/use-lines.ts'
import { Empty } from '../../design/notice.tsx'
import { reread } from '../../session/api.ts'
import { useWords } from '../../words/words.ts'
import { type Comparison, compareAgainMs } from './comparison.ts'
import { words } from './words.ts'

/** Each metric of the runs in its own chart. */
export function Overlay({ data }: { data: Comparison }) {
  const say = useWords(words)
  useEffect(() => {
    const live = data.runs.filter(({ ended_at }) => ended_at === null)
    if (live.length === 0) return
    const timer = setInterval(() => {
      if (!document.hidden) void reread(...live.map(({ run_id }) => pathOfMetrics(run_id)))
    }, compareAgainMs)
    return () => clearInterval(timer)
  }, [data])
  if (data.metrics.length === 0) return <Empty text={say.noMetrics} />
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={data.metrics.map(({ key }) => key)}
        chartsOf={keys => keys.map(key => ({ title: key, keys: [key] }))}
        sourceOf={({ keys }) =>
          data.runs.map(({ run_id, short_id, created_at, started_at }) => ({
            runId: run_id,
            label: short_id,
            startMs: Date.parse(started_at ?? created_at),
            keys,
          }))
        }
      />
    </section>
  )
}
