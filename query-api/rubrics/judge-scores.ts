import type { Pool } from 'pg'
import type { Person } from '../../auth/caller.ts'

/** What a deployment said about a sample, by a version of a rubric. */
export type JudgeScore = {
  run_id: string
  sample_id: string
  deployment_id: string
  revision_id: string
  /** Whether the reader may see the deployment. */
  is_shown: boolean
  score: number
  /** By the name of a criterion. */
  criteria: Record<string, number>
}

export type JudgeScoresAsked = { rubric: string; runs: readonly string[] }

/** Queues have 10,000 items at most. */
const most = 100_000

/**
 * The known scores of samples of these runs by a version of a rubric, `owner/name@version`, whose runs the caller may read. None if
 * the rubric is hidden from them, or has another version by now.
 */
export async function readJudgeScores(
  pool: Pool,
  { username, role }: Pick<Person, 'username' | 'role'>,
  { rubric, runs }: JudgeScoresAsked,
): Promise<JudgeScore[]> {
  const [named = '', version = ''] = rubric.split('@')
  const [owner = '', name = ''] = named.split('/')
  const { rows } = await pool.query<JudgeScore>({
    name: 'judge_scores_of_runs',
    text: `select distinct on (j.run_id, o.sample_id, j.deployment_id, j.revision_id)
                  j.run_id, o.sample_id, j.deployment_id, j.revision_id, d.id is not null as is_shown, s.score, s.criteria
             from write.judging j join write.judgement o using (judging_id)
             join write.rubric_score s
               on s.owner = j.rubric_owner and s.name = j.rubric and s.version = j.version
              and s.judge = j.deployment_id || '@' || j.revision_id and s.sample = o.sample
             join write.resource r on r.kind = 'rubric' and r.id = $1 || '/' || $2
             left join write.resource d on d.kind = 'deployment' and d.id = j.deployment_id
              and write.may_read(d.owner, d.project, $4, $5)
            where j.rubric_owner = $1 and j.rubric = $2 and j.version = $3 and j.run_id = any($6)
              and (r.visibility = 'public' or r.owner = $4 or $5)
            order by j.run_id, o.sample_id, j.deployment_id, j.revision_id limit $7`,
    values: [owner, name, Number(version), username, role === 'admin', runs, most],
  })
  return rows
}
