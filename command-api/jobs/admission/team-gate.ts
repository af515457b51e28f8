import { judge, rolesIn } from '../../rules/access.ts'
import { requestOf } from './facts.ts'
import type { Answer, Gate } from './gate.ts'

/** A job counts in the pool of its team, and must fit it besides the quota of its submitter. */
export const teamGate: Gate = facts => {
  const { spec, project, projectTeam, caller, team, serving } = facts
  const { team: asked, project: projectName } = spec.metadata
  // Whose project it is must not be learned from its team.
  const mayKnow = project !== null && judge(rolesIn(project, caller), 'submit') === 'permitted'
  if (asked !== null && projectTeam !== null && projectTeam !== asked && mayKnow)
    return {
      ok: false,
      code: 'team.unknown',
      detail: `Project ${projectName} belongs to team ${projectTeam}, not to ${asked}`,
      data: { submitted: asked, of_project: projectTeam },
      hint: 'Leave out metadata.team, or name the team of the project',
    }
  if (asked === null && team === null) return { ok: true, detail: 'no team' }
  // What deploys for a team was judged when it was created.
  if (serving === null && (team === null || (asked !== null && asked !== projectTeam))) {
    const refused = judgeRole(facts)
    if (refused) return refused
  }
  return team === null ? { ok: true, detail: 'no team' } : fitsPool(facts, team)
}

/** The right to submit to a project of the team includes its pool; with other projects the role in the team decides. */
function judgeRole({ spec, caller, team }: Parameters<Gate>[0]): Answer | null {
  const name = spec.metadata.team
  const isHidden = team === null || (team.role === null && caller.role !== 'admin')
  if (isHidden)
    return {
      ok: false,
      code: 'team.unknown',
      detail: `No such team: ${name}`,
      data: { submitted: name },
      hint: 'GET /api/teams lists yours',
    }
  if (team.role !== 'viewer') return null
  return {
    ok: false,
    code: 'team.role',
    refusal: 'forbidden',
    detail: `Viewers may not start jobs for team ${name}`,
    hint: `Ask an owner or a maintainer of ${name} to make you a member`,
  }
}

type Facts = Parameters<Gate>[0]

function fitsPool(facts: Facts, { name, pool }: NonNullable<Facts['team']>): Answer {
  const { gpus } = requestOf(facts)
  const { max_concurrent_gpus: ofQuota } = facts.quota
  const ofPool = pool.max_concurrent_gpus
  const data = { requested: gpus, quota: ofQuota, pool: ofPool, team: name }
  const isBeyond = ofPool !== null && gpus > ofPool
  if (isBeyond || pool.max_concurrent_jobs === 0)
    return {
      ok: false,
      code: 'team.pool',
      detail: isBeyond
        ? `Insufficient team pool: requested ${gpus} GPUs, the pool of ${name} has ${ofPool}, your quota ${ofQuota}`
        : `Insufficient team pool: the pool of ${name} takes no jobs`,
      data,
      hint: 'Ask for fewer GPUs, or ask an admin for a larger pool',
    }
  return {
    ok: true,
    detail:
      ofPool === null
        ? `team ${name} has no limit of GPUs`
        : `${gpus} of ${ofPool} GPUs of team ${name}`,
    data,
  }
}
