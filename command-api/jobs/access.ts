import type { Pool } from 'pg'
import type { Person } from '../../platform/http/route.ts'
import { Refusal } from '../../platform/refusal.ts'

/**
 * The run id of a job, asked for by it or by its short id, that this person may act on: its owner, owners and
 * maintainers of its project, and admins. Who may only read it gets 403; for all others there is no such job.
 */
export async function jobToActOn(pool: Pool, asked: string, caller: Person): Promise<string> {
  const { rows } = await pool.query({
    name: 'job_to_act_on',
    text: `select j.run_id, j.owner, p.owner as project_owner, p.visibility, m.role
             from write.job_state j
             join write.project p on p.name = j.project
             left join write.project_member m on m.project = p.name and m.username = $2
            where j.run_id = $1 or j.short_id = $1`,
    values: [asked, caller.username],
  })
  const job = rows[0]
  const isHidden =
    !job ||
    (caller.role !== 'admin' &&
      job.visibility !== 'internal' &&
      ![job.owner, job.project_owner].includes(caller.username) &&
      job.role === null)
  if (isHidden) throw new Refusal('not_found', `No such job: ${asked}`)
  const mayAct =
    caller.role === 'admin' ||
    [job.owner, job.project_owner].includes(caller.username) ||
    job.role === 'maintainer'
  if (!mayAct)
    throw new Refusal(
      'forbidden',
      `Only ${job.owner}, maintainers of its project and admins act on this job`,
    )
  return job.run_id
}
