import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { parseEnvironmentReference } from '../../schemas/rl-environments/reference.ts'
import {
  archiveName,
  rlEnvironmentOfRunQuery,
} from '../../schemas/rl-environments/rl-environments.ts'
import type { Deps } from '../deps.ts'
import { ofContentForRuns, sendContentToRun } from '../rules/content-for-runs.ts'

/** The archives of the RL environments that a job names, for its preparation. The token of the run gives access to these and to no others. */
export const contentRoute = (deps: Deps): Route =>
  route({
    ...ofContentForRuns,
    path: '/api/ingest/environments/content',
    summary: 'The archive of an RL environment that the run uses',
    query: rlEnvironmentOfRunQuery,
    handle({ caller, query, ctx }) {
      const { environment_ref: ref, file } = query
      const find = () => digestOfArchive(deps, { run_id: caller.runId, ref, file })
      return sendContentToRun(deps, { caller, ctx, asked: query, ref, find, store: deps.uploads })
    },
  })

type Wanted = { run_id: string; ref: string; file: string }

async function digestOfArchive({ pool }: Deps, { run_id, ref, file }: Wanted): Promise<string> {
  const { owner, name, version } = parseEnvironmentReference(ref) ?? {}
  const { rows } = await pool.query<{ archive_sha256: string; deleted_at: Date | null }>({
    name: 'rl_environment_of_run',
    text: `select v.archive_sha256, v.deleted_at
             from write.use u join write.rl_environment_version v
               on v.owner = $3 and v.name = $4 and v.version = $5
            where u.user_kind = 'run' and u.user_id = $1 and u.used_kind = 'rl_environment' and u.used_id = $2
            limit 1`,
    values: [run_id, ref, owner, name, version],
  })
  const [row] = rows
  if (!row || file !== archiveName)
    throw new Refusal('conflict', `The run does not use ${file} of ${ref}`, {
      code: 'environment.other_run',
    })
  if (row.deleted_at !== null)
    throw new Refusal('gone', `The environment ${ref} was deleted`, {
      code: 'environment.deleted',
    })
  return row.archive_sha256
}
