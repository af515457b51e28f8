import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { Static } from 'typebox'
import type { metricKeyRow } from '../../../../../../schemas/metrics/reads.ts'
import { ChartList } from '../../../charts/chart-list.tsx'
import { chartsOf } from '../../../charts/series.ts'
import { pathOfMetrics } from '../../../charts/use-lines.ts'
import { DownloadButton } from '../../../design/download-button.tsx'
import { Empty, ShownRows } from '../../../design/notice.tsx'
import { useLive, useThrottled } from '../../../live/use-live.ts'
import { takeAhead } from '../../../session/ahead.ts'
import { reading, reread } from '../../../session/api.ts'
import { useWords, wordsOf } from '../../../words/words.ts'
import type { RunRecord } from '../use-run.ts'
import { useSource } from '../use-source.ts'

const words = wordsOf({
  none: ['No metrics yet. Report some:', '还没有指标。上报示例：'],
  csv: ['CSV of all points', '导出全部数据 (CSV)'],
})

type KeyRow = Static<typeof metricKeyRow>

/** About 250 MB of CSV. */
const largePoints = 5_000_000

export function Tab({ run }: { run: RunRecord }) {
  const say = useWords(words)
  const { run_id: named = run.run_id } = useParams({ strict: false })
  const read = reading<KeyRow[]>(`${pathOfMetrics(run.run_id)}/keys`)
  const keys = useQuery({
    ...read,
    queryFn: asked => takeAhead<KeyRow[]>(`${pathOfMetrics(named)}/keys`) ?? read.queryFn(asked),
  })
  const again = useThrottled(() => reread(pathOfMetrics(run.run_id)), 250)
  useLive(run.ended_at === null ? `metrics:${run.run_id}` : null, {
    onEvent: ({ event }) => event === 'points' && again(),
    onGap: again,
  })
  return (
    <ShownRows
      of={keys}
      none={<Empty text={say.none} command={'forge.log({"loss": loss}, step)'} />}
    >
      {rows => <Charts run={run} rows={rows} />}
    </ShownRows>
  )
}

function Charts({ run, rows }: { run: RunRecord; rows: readonly KeyRow[] }) {
  const say = useWords(words)
  const source = useSource(run)
  return (
    <ChartList
      keys={rows.map(({ key }) => key)}
      chartsOf={chartsOf}
      sourceOf={({ keys }) => ({ ...source, keys })}
    >
      <DownloadButton
        path={`${pathOfMetrics(run.run_id)}/export`}
        name={`${run.short_id}.csv`}
        isLarge={run.counts.points > largePoints}
      >
        {say.csv}
      </DownloadButton>
    </ChartList>
  )
}
