import { createHash } from 'node:crypto'
import type { Pool } from 'pg'
import { hubPushAt } from '../../events/hub-pushes.ts'
import type { Deps } from '../deps.ts'
import { decided, nothing } from '../effects/outcome.ts'
import { reactor } from '../effects/reactor.ts'
import { newestExport } from '../rules/exports.ts'
import { failPush, requestPush } from './decide.ts'
import { savePush } from './rows.ts'

type Ended = { run_id: string; owner: string }

/** A job that has succeeded sends its newest export to the repository that its spec names. */
export const pushesOfJobs = reactor<Ended, Pick<Deps, 'pool'>>({
  name: 'push-models-of-jobs',
  repeat: 'local',
  dutiesOf: ({ type, data }) =>
    type === 'job.succeeded' ? [{ payload: { run_id: data.run_id, owner: data.owner } }] : [],
  async perform({ payload: { run_id, owner } }, { pool }) {
    const repo = await wantedRepo(pool, run_id)
    if (repo === null) return nothing
    const push_id = pushIdOf(run_id)
    const artifact_id = await newestExport(pool, run_id)
    const facts = { push_id, owner, repo, private: true, run_id, artifact_id, model: null }
    const request = decided(hubPushAt({ push_id }), {
      decide: before => requestPush(before, facts),
      alongside: savePush,
    })
    if (artifact_id !== null) return [request]
    const reason = 'The run left no artifact of kind hf_export'
    const fail = decided(hubPushAt({ push_id }), {
      decide: before => failPush(before, { push_id, owner, repo, reason }),
      alongside: savePush,
    })
    return [request, fail]
  },
})

/** Each run has one push. */
const pushIdOf = (run_id: string): string =>
  `hpsh_${createHash('sha256').update(run_id).digest('hex').slice(0, 26)}`

async function wantedRepo(pool: Pool, run_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ repo: string | null }>({
    name: 'hub_repo_of_job',
    text: `select data #>> '{spec,spec,outputs,push_to_hub}' as repo from write.event
            where stream = $1 and stream_version = 1`,
    values: [`job-${run_id}`],
  })
  return rows[0]?.repo ?? null
}
