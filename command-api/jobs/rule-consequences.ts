import { type Job, jobAt } from '../../events/job-state.ts'
import type { JobEvent } from '../../events/jobs.ts'
import type { Deps } from '../deps.ts'
import { decided } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { pause, stop } from './decide.ts'
import { saveJob } from './rows.ts'

export type Ruled = {
  run_id: string
  verb: 'stop' | 'pause'
  /** The rule's finding. */
  title: string
  fired_at: string
}

/** Stops or pauses a job as a rule of its JobSpec requires; if it requires both, the job is stopped. */
export const ruleKeeper = reactor<Ruled, Pick<Deps, 'now'>>({
  name: 'rule-keeper',
  repeat: 'local',
  dutiesOf({ type, data, occurred_at: fired_at }) {
    if (type !== 'alert.fired' || data.source !== 'spec') return []
    const verb = (['stop', 'pause'] as const).find(one => data.consequences.includes(one))
    return verb ? [{ payload: { run_id: data.run_id, verb, title: data.title, fired_at } }] : []
  },
  async perform({ payload }) {
    const decide = (job: Job, now: Date) => obey(job, payload, now)
    return [decided(jobAt(payload.run_id), { decide, alongside: saveJob })]
  },
})

/** Acts only on the attempt that triggered the rule: another may be running when the duty is performed. */
export function obey(job: Job, { verb, title, fired_at }: Ruled, now: Date): JobEvent[] {
  const isThatAttempt = job.started_at !== null && job.started_at <= fired_at
  if (job.state !== 'running' || !isThatAttempt) return []
  const asked = {
    message: `A rule of its JobSpec: ${title}`,
    graceSeconds: null,
    force: false,
    now,
  }
  return verb === 'stop' ? stop(job, asked) : pause(job, asked)
}
