import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { runRecord } from '../../../../../schemas/runs/records.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'

export type RunRecord = Static<typeof runRecord>

export const pathOfRun = (runId: string): string => `/api/runs/${encodeURIComponent(runId)}`
export const pathOfJob = (runId: string): string => `/api/jobs/${encodeURIComponent(runId)}`

export const readingRun = (runId: string) => reading<RunRecord>(pathOfRun(runId))

/** A run that updates live; `runId` may be its short id. */
export function useRun(runId: string) {
  const run = useQuery(readingRun(runId))
  // The run is read by the id in the address, its parts by the full id.
  const ids = [...new Set([runId, run.data?.run_id ?? runId])]
  const again = useThrottled(
    () => reread(...ids.flatMap(id => [pathOfRun(id), pathOfJob(id)]), '/api/queue'),
    1_000,
  )
  // The topic of all runs, because that of a single run ends with the run, which can still be renamed, tagged and the like.
  useLive(run.data ? 'jobs' : null, {
    onEvent: ({ event, data }) => {
      const { run_id } = data as { run_id?: string }
      if (event !== 'points' && event !== 'log' && run_id === run.data?.run_id) again()
    },
    onGap: again,
  })
  return run
}
