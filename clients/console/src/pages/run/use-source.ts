import { useQuery } from '@tanstack/react-query'
import type { Source } from '../../charts/use-lines.ts'
import { reading } from '../../session/api.ts'
import { attemptStarts, type JobDetail } from './phases.ts'
import { pathOfJob, type RunRecord } from './use-run.ts'

/** The facts about a run that charts need, apart from their keys. */
export function useSource(run: RunRecord): Omit<Source, 'keys'> {
  const job = useQuery({ ...reading<JobDetail>(pathOfJob(run.run_id)), enabled: run.job_exists })
  return {
    runId: run.run_id,
    startMs: Date.parse(run.started_at ?? run.created_at),
    attempts: job.data ? attemptStarts(job.data) : [],
  }
}
