import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import { type Action, type Asking, judge, rolesIn } from './access.ts'

export type RunToActOn = {
  run_id: string
  owner: string
  source: 'job' | 'external'
  ended_at: Date | null
}

export type ActOnRun = {
  /** A run id, or a short id. */
  asked: string
  caller: Asking
  action: Action
  /** `job`: a run without a job counts as missing. */
  noun: 'job' | 'run'
  /** Whether a deleted run is found, too; otherwise it counts as missing. */
  alsoDeleted?: boolean
}

/** The run, if the caller may act on it. Mere readers get 403; to all others it looks missing. */
export async function runToActOn(
  db: Pool | Transaction,
  { asked, caller, action, noun, alsoDeleted = false }: ActOnRun,
): Promise<RunToActOn> {
  const { rows } = await db.query({
    name: 'run_to_act_on',
    text: `select r.run_id, r.owner, r.source, r.ended_at,
                  p.owner as project_owner, p.visibility, m.role as member_role
             from write.run_state r
             join write.project p on p.name = r.project
             left join lateral (select role from write.project_person m where m.project = p.name and m.username = $2
                                 order by m.rank desc limit 1) m on true
            where (r.run_id = $1 or r.short_id = $1) and ($3 = 'run' or r.source = 'job')
              and ($4 or r.deleted_at is null)`,
    values: [asked, caller.username, noun, alsoDeleted],
  })
  const [run] = rows
  const verdict = run ? judge(rolesOf(run, caller), action) : 'hidden'
  if (verdict === 'hidden') throw new Refusal('not_found', `No such ${noun}: ${asked}`)
  if (verdict === 'forbidden') throw new Refusal('forbidden', whoMay(action, run.owner, noun))
  const { run_id, owner, source, ended_at } = run
  return { run_id, owner, source, ended_at }
}

type Row = {
  owner: string
  project_owner: string
  visibility: 'private' | 'internal'
  member_role: 'viewer' | 'member' | 'maintainer' | null
}

const rolesOf = (run: Row, caller: Asking) => {
  const { project_owner: owner, visibility, member_role: memberRole } = run
  return rolesIn({ owner, visibility, memberRole }, caller, run)
}

const whoMay = (action: Action, owner: string, noun: string): string =>
  action === 'issue_token'
    ? `Only ${owner} may issue tokens of this run`
    : `Only ${owner}, maintainers of its project and admins may act on this ${noun}`
