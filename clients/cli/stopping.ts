import { type Api, segment } from './api.ts'
import { Failure } from './failure.ts'

/** The response to a request to stop. */
export type Stopped = {
  run_id: string
  state: string
  accepted: boolean
  already: boolean
  deadline: string | null
}

/** Jobs and runs without a job are stopped by routes of their own; what is neither is the job that is missing. */
export async function requestStop(
  api: Api,
  id: string,
  body: Record<string, unknown>,
): Promise<Stopped> {
  try {
    return await api.post<Stopped>(`/api/jobs/${segment(id)}/stop`, body)
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.status !== 404) throw error
    const { grace_s: _, ...rest } = body // nobody but its own code ends a run without a job
    const run = await api.find<{ run_id: string }>(`/api/runs/${segment(id)}`)
    if (run === null) throw error
    return await api.post<Stopped>(`/api/runs/${run.run_id}/stop`, rest)
  }
}
