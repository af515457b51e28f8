import { useEffect } from 'react'
import type { RunRow } from '../../../../schemas/runs/records.ts'
import { refresh } from '../session/api.ts'
import { pathOfSeries } from './project-series.ts'
import { pathOfMetrics } from './use-lines.ts'

type Run = Pick<RunRow, 'run_id' | 'project' | 'ended_at'>

/** Refreshes the curves of the runs that have not ended, and what else `also` names, every `leastMs` or less often. */
export function useLiveCurves(
  runs: readonly Run[],
  { leastMs, also = [] }: { leastMs: number; also?: readonly string[] },
): void {
  const live = runs.filter(({ ended_at }) => ended_at === null)
  const projects = new Set(live.map(({ project }) => pathOfSeries(project)))
  // As text, so that a list that was read again and names the same runs does not restart the timer.
  const paths =
    live.length === 0
      ? ''
      : [...also, ...projects, ...live.map(({ run_id }) => pathOfMetrics(run_id))].join(' ')
  // Many curves take the server longer.
  const paceMs = Math.max(leastMs, live.length * 50)
  useEffect(() => {
    if (paths === '') return
    let timer: ReturnType<typeof setTimeout>
    let isOver = false
    const next = () => {
      timer = setTimeout(async () => {
        // The next one waits for this one: a slow server would otherwise never finish any.
        if (!document.hidden) await refresh(...paths.split(' '))
        if (!isOver) next()
      }, paceMs)
    }
    next()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [paths, paceMs])
}
