import { useCallback, useMemo } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { Lift } from '../../charts/chart.tsx'
import { ChartList } from '../../charts/chart-list.tsx'
import { strokeOfRun } from '../../charts/colours.ts'
import { Empty } from '../../design/notice.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { type GroupValue, strokeOfGroup } from './groups.ts'
import type { Groups } from './use-choice.ts'
import { isCut } from './use-runs.ts'
import { words } from './words.ts'

type CurvesProps = {
  project: string
  keys: readonly string[]
  groups: Groups | null
  isKnown: boolean
  shown: readonly RunRow[]
  isEmpty: boolean
  lift: Lift
}

/** Each metric of the shown runs in its own chart, with the lines of the runs, each in its colour, or of their groups. */
export function Curves({ project, keys, groups, isKnown, shown, isEmpty, lift }: CurvesProps) {
  const say = useWords(words)
  const isHidden = useMemo(() => {
    const hidden = new Set(groups?.hidden)
    return (value: GroupValue) => hidden.has(value)
  }, [groups?.hidden])
  const labelOf = useCallback(
    (value: GroupValue) => (value === null ? say.noValue : visible(value)),
    [say],
  )
  if (!isKnown) return null
  if (shown.length === 0) return <Empty text={isEmpty ? say.noneFound : say.noneShown} />
  if (keys.length === 0) return <Empty text={say.noMetrics} />
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={keys}
        chartsOf={found => found.map(key => ({ title: key, keys: [key] }))}
        lift={lift}
        groupsOf={chart =>
          groups && { ...groups, keys: chart.keys, isHidden, labelOf, strokeOf: strokeOfGroup }
        }
        sourceOf={({ keys }) =>
          shown
            .filter(run => isCut(run) || keys.some(key => key in run.summary))
            .map(({ run_id, short_id, name, created_at, started_at }) => ({
              runId: run_id,
              project,
              label: name ?? short_id,
              stroke: strokeOfRun(short_id),
              startMs: Date.parse(started_at ?? created_at),
              keys,
            }))
        }
      />
    </section>
  )
}
