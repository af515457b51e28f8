import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Panel } from '../../../../../schemas/workspace.ts'
import { ChartList } from '../../charts/chart-list.tsx'
import { useLiveCurves } from '../../charts/use-live-curves.ts'
import { Empty } from '../../design/notice.tsx'
import { AddPanel } from '../../panels/add-panel.tsx'
import { panelsFrom } from '../../panels/panel.ts'
import { PinItem, PinnedPanels } from '../../panels/pinned.tsx'
import { useWords } from '../../words/words.ts'
import { type Comparison, compareAgainMs } from './comparison.ts'
import { factsOf, strokesOf, usualPanels } from './facts.ts'
import { words } from './words.ts'

/** The panels of the comparison, and each metric of the runs in its own chart. */
export function Overlay({ data }: { data: Comparison }) {
  const say = useWords(words)
  const pinned = usePanels(data)
  const [lifted, setLifted] = useState<string | null>(null)
  const runs = useMemo(() => factsOf(data), [data])
  const strokes = useMemo(() => strokesOf(data), [data])
  useLiveCurves(data.runs, { leastMs: compareAgainMs })
  const projects = new Set(data.runs.map(({ project }) => project))
  const [project = ''] = projects
  const lift = { runId: lifted, onHover: setLifted }
  const sourcesOf = (keys: readonly string[]) =>
    data.runs.map(({ run_id, short_id, project: of, created_at, started_at }, nth) => ({
      ...{ runId: run_id, label: short_id, project: of, keys },
      startMs: Date.parse(started_at ?? created_at),
      ...(strokes[nth] && { stroke: strokes[nth] }),
    }))
  if (data.metrics.length === 0) return <Empty text={say.noMetrics} />
  const metrics = data.metrics.map(({ key }) => key)
  const names = { metrics, hparams: data.hparams.map(({ key }) => key) }
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={metrics}
        chartsOf={keys => keys.map(key => ({ title: key, keys: [key] }))}
        sourceOf={({ keys }) => sourcesOf(keys)}
        lift={lift}
        actionsOf={chart => <PinItem pinned={pinned} keys={chart.keys} />}
        before={(view, onZoom) => (
          <PinnedPanels
            pinned={pinned}
            names={names}
            shared={{
              ...{ view, onZoom, lift, runs, q: '', onOnly: null },
              curvesOf: keys => ({ source: sourcesOf(keys), groups: null }),
              project: projects.size === 1 ? project : null,
            }}
          />
        )}
      >
        <AddPanel pinned={pinned} names={names} />
      </ChartList>
    </section>
  )
}

/** The panels in the address, or else some that suit the comparison. */
function usePanels(data: Comparison) {
  const { panels: text } = useSearch({ strict: false })
  const navigate = useNavigate()
  const panels = useMemo(
    () => (text === undefined ? usualPanels(data) : panelsFrom(text)),
    [text, data],
  )
  const setPanels = (next: readonly Panel[]) =>
    void navigate({
      to: '/compare',
      search: old => ({ ...old, panels: JSON.stringify(next) }),
      resetScroll: false,
    })
  return { panels, setPanels }
}
