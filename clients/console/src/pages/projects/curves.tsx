import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { RunRow } from '../../../../../schemas/runs/records.ts'
import type { Lift } from '../../charts/chart.tsx'
import { ChartList } from '../../charts/chart-list.tsx'
import { strokeOfRun } from '../../charts/stroke.ts'
import type { Source } from '../../charts/use-lines.ts'
import { AddPanel } from '../../panels/add-panel.tsx'
import { axisFrom, type RunFacts } from '../../panels/axis.ts'
import { ImportanceItem, PinItem, PinnedPanels } from '../../panels/pinned.tsx'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import { readingHparamKeys } from './group-choice.tsx'
import { type GroupValue, strokeOfGroup, withoutArchived } from './groups.ts'
import type { Choice, Groups } from './use-choice.ts'
import { isCut } from './use-runs.ts'
import { words } from './words.ts'

type CurvesProps = {
  project: string
  choice: Choice
  keys: readonly string[]
  groups: Groups | null
  shown: readonly RunRow[]
  lift: Lift
  onShow: (runIds: readonly string[]) => void
}

/** The panels that somebody added, and each metric of the shown runs in its own chart: the lines of the runs or of their groups. */
export function Curves({ project, choice, keys, groups, shown, lift, onShow }: CurvesProps) {
  const say = useWords(words)
  const hparams = useQuery(readingHparamKeys(project))
  const runs = useMemo(() => shown.map(factsOf), [shown])
  const names = { metrics: keys, hparams: hparams.data?.keys.map(({ key }) => key) ?? [] }
  const curvesOf = useCurves({ project, groups, shown })
  return (
    <section aria-label={say.curves}>
      <ChartList
        keys={keys}
        chartsOf={found => found.map(key => ({ title: key, keys: [key] }))}
        lift={lift}
        groupsOf={chart => curvesOf(chart.keys).groups}
        sourceOf={chart => curvesOf(chart.keys).source}
        actionsOf={({ keys: [key = ''] }) => (
          <>
            <PinItem pinned={choice} keys={[key]} />
            <ImportanceItem pinned={choice} metric={key} />
          </>
        )}
        before={(view, onZoom) => (
          <PinnedPanels
            pinned={choice}
            names={names}
            shared={{
              ...{ view, onZoom, lift, runs, curvesOf, project },
              ...{ q: withoutArchived(choice.q), onOnly: onShow },
            }}
          />
        )}
      >
        <AddPanel pinned={choice} names={names} />
      </ChartList>
    </section>
  )
}

/** The lines of some metrics: of the runs that have them, or of the groups. */
function useCurves({ project, groups, shown }: Pick<CurvesProps, 'project' | 'groups' | 'shown'>) {
  const say = useWords(words)
  const isHidden = useMemo(() => {
    const hidden = new Set(groups?.hidden)
    return (value: GroupValue) => hidden.has(value)
  }, [groups?.hidden])
  const labelOf = useCallback(
    (value: GroupValue) => (value === null ? say.noValue : visible(value)),
    [say],
  )
  // Hundreds of charts ask for the same runs whenever the page is drawn.
  const sources = useMemo(() => {
    const made = new Map<string, Source[]>()
    return (keys: readonly string[]) => {
      const name = JSON.stringify(keys)
      const known = made.get(name) ?? sourcesOf(shown, project, keys)
      made.set(name, known)
      return known
    }
  }, [shown, project])
  return (keys: readonly string[]) => ({
    groups: groups && { ...groups, keys, isHidden, labelOf, strokeOf: strokeOfGroup },
    source: sources(keys),
  })
}

const sourcesOf = (shown: readonly RunRow[], project: string, keys: readonly string[]): Source[] =>
  shown
    .filter(run => isCut(run) || keys.some(key => key in run.summary))
    .map(({ run_id, short_id, name, created_at, started_at }) => ({
      ...{ runId: run_id, project, keys, label: name ?? short_id },
      stroke: strokeOfRun(short_id),
      startMs: Date.parse(started_at ?? created_at),
    }))

function factsOf(run: RunRow): RunFacts {
  const { run_id, short_id, name, summary, hparams = {} } = run
  return {
    ...{ runId: run_id, shortId: short_id, label: name ?? short_id },
    token: strokeOfRun(short_id).token,
    valueOf: text => {
      const axis = axisFrom(text)
      return 'hparam' in axis
        ? (hparams[axis.hparam] ?? null)
        : (summary[axis.metric]?.[axis.of] ?? null)
    },
  }
}
