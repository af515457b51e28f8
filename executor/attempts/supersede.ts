import { setTimeout as delay } from 'node:timers/promises'
import type { AttemptRef, Executor, Launch, Observed } from '../port.ts'
import { toRef } from './attempt-ref.ts'

type Attempts = Pick<Executor, 'observe' | 'stop'> & {
  /** The numbers of a run's attempts. */
  attemptsOf(run_id: string): Promise<number[]>
  /** The fencing token of an attempt; null for an unknown one. */
  tokenOf(ref: AttemptRef): Promise<number | null>
  /** How long to wait for an attempt to end. */
  patienceMs: number
}

/** Ends older attempts of the run, so that two never run at once. Returns the highest token of the run's other attempts. */
export async function endOlder(attempts: Attempts, launch: Launch): Promise<number> {
  let newest = 0
  for (const attempt of await attempts.attemptsOf(launch.run_id)) {
    const ref = toRef(launch.run_id, attempt)
    const token = attempt === launch.attempt ? null : await attempts.tokenOf(ref)
    if (token === null) continue
    newest = Math.max(newest, token)
    if (token <= launch.fencing_token) await end(attempts, ref)
  }
  return newest
}

export const isOver = ({ state }: Observed): boolean => state === 'exited' || state === 'unknown'

async function end(attempts: Attempts, ref: AttemptRef): Promise<void> {
  const deadline = performance.now() + attempts.patienceMs
  let asked = false
  while (!isOver(await attempts.observe(ref))) {
    if (!asked) await attempts.stop(ref, { grace_s: 0, force: true })
    asked = true
    if (performance.now() > deadline) throw new Error(`the older attempt ${ref} does not end`)
    await delay(50)
  }
}
