import { type Api, segment } from '../api/client.ts'
import { Failure, usageFailure } from '../program/failure.ts'
import type { Flags, Texts } from '../program/session.ts'

/** The response to a request to stop. */
export type Stopped = {
  run_id: string
  state: string
  accepted: boolean
  already: boolean
  deadline: string | null
}

export type HowToEnd = Texts<'reason' | 'grace'> & Flags<'force'>

/** The body of a request to stop or to pause. */
export function requestOf({ force, reason, grace }: HowToEnd): Record<string, unknown> {
  if (grace !== undefined && !/^\d+$/.test(grace))
    throw usageFailure(`--grace ${grace}: give whole seconds`)
  return {
    ...(force && { force }),
    ...(reason !== undefined && { reason }),
    ...(grace !== undefined && { grace_s: Number(grace) }),
  }
}

/** Jobs and runs without a job have separate routes to stop them; an unknown id is reported as a missing job. */
export async function requestStop(
  api: Api,
  id: string,
  body: Record<string, unknown>,
): Promise<Stopped> {
  try {
    return await api.post<Stopped>(`/api/jobs/${segment(id)}/stop`, body)
  } catch (error) {
    if (!isMissing(error)) throw error
    const { grace_s: _, ...rest } = body // only its own code ends a run without a job
    return await api
      .post<Stopped>(`/api/runs/${segment(id)}/stop`, rest)
      .catch((other: unknown) => {
        throw isMissing(other) ? error : other
      })
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Failure && error.fields.status === 404
