import { useQuery } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { runRecord } from '../../../../../schemas/runs/records.ts'
import { useLive, useThrottled } from '../../live/use-live.ts'
import { reading, reread } from '../../session/api.ts'

export type RunRecord = Static<typeof runRecord>

export const pathOfRun = (runId: string): string => `/api/runs/${encodeURIComponent(runId)}`
export const pathOfJob = (runId: string): string => `/api/jobs/${encodeURIComponent(runId)}`

/** A run that updates live; `runId` may be its short id. */
export function useRun(runId: string) {
  const run = useQuery(reading<RunRecord>(pathOfRun(runId)))
  // The run is read by the id in the address, its parts by the full id.
  const ids = [...new Set([runId, run.data?.run_id ?? runId])]
  const again = useThrottled(
    () => reread(...ids.flatMap(id => [pathOfRun(id), pathOfJob(id)]), '/api/queue'),
    1_000,
  )
  useLive(run.data ? `job:${run.data.run_id}` : null, { onEvent: again, onGap: again })
  return run
}
