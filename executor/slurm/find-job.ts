import { ofRef } from '../attempts/attempt-ref.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import type { AttemptRef } from '../port.ts'
import type { JobRecord } from './attempt-files.ts'
import type { SlurmContext } from './context.ts'
import { isOfTurn, jobName } from './turns.ts'

/** The number of a turn's job, found by its name if the outcome of the submit is unknown. */
export async function findJob(
  { options, paths: pathsOf }: SlurmContext,
  ref: AttemptRef,
  turn: number,
): Promise<number | null> {
  const paths = pathsOf(ref)
  const known = await readJson<JobRecord>(paths.job(turn))
  if (known) return known.job_id
  if (!(await readJson(paths.submit(turn)))) return null
  const named = await options.client.jobsNamed(jobName(ofRef(ref)))
  const found = named.find(job => isOfTurn(job, turn))
  if (!found) return null
  await writeDurably(paths.job(turn), { job_id: found.id } satisfies JobRecord)
  return found.id
}
