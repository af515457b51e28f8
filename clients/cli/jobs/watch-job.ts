import { segment } from '../api/client.ts'
import type { JobDetail } from '../api/records.ts'
import { pause } from '../program/pause.ts'
import type { Session } from '../program/session.ts'
import { duration } from '../terminal/amounts.ts'

const pollMs = 300
const sayEveryMs = 2000

export type Awaited = {
  run_id: string
  /** Whether the job has reached the awaited state. */
  isThere: (job: JobDetail) => boolean
  /** The progress text of a job that is not there yet. */
  text: (job: JobDetail) => string
}

/** Waits for a job to reach a state; reports its progress and the time taken every two seconds. */
export async function watchJob(
  { api, terminal, nowMs }: Session,
  { run_id, isThere, text }: Awaited,
): Promise<JobDetail> {
  const began = nowMs()
  let saidMs = began
  for (;;) {
    const job = await api.get<JobDetail>(`/api/jobs/${segment(run_id)}`)
    if (isThere(job)) return job
    if (nowMs() - saidMs >= sayEveryMs) {
      saidMs = nowMs()
      terminal.note(`${text(job)}, for ${duration((nowMs() - began) / 1000)}`)
    }
    await pause(pollMs)
  }
}
