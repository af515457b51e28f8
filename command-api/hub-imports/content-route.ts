import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { modelOfRunQuery } from '../../schemas/hub-imports.ts'
import { pinnedModel } from '../../schemas/hub-reference.ts'
import type { Deps } from '../deps.ts'
import { ofContentForRuns, sendContentToRun } from '../rules/content-for-runs.ts'

/** The files of the model that a job names, for its preparation. The token of the run gives access to these and to no others. */
export const contentRoute = (deps: Deps): Route =>
  route({
    ...ofContentForRuns,
    path: '/api/ingest/model/content',
    summary: 'The bytes of a file of the imported model that the run uses',
    query: modelOfRunQuery,
    handle({ caller, query, ctx }) {
      const { hub_ref: ref, file } = query
      const find = () => digestOfFile(deps, { run_id: caller.runId, ref, file })
      return sendContentToRun(deps, { caller, ctx, asked: query, ref, find })
    },
  })

type Wanted = { run_id: string; ref: string; file: string }

async function digestOfFile({ pool }: Deps, { run_id, ref, file }: Wanted): Promise<string> {
  const { repo, commit } = pinnedModel(ref) ?? {}
  const { rows } = await pool.query<{ sha256: string }>({
    name: 'model_of_run',
    text: `select f.sha256 from write.use u
             join write.hub_import i on i.import_id = u.used_id
             join write.hub_file f on f.import_id = i.import_id
            where u.user_kind = 'run' and u.user_id = $1 and u.used_kind = 'hub_import' and u.until is null
              and i.repo = $2 and i.commit = $3 and i.state = 'ready' and f.name = $4
            limit 1`,
    values: [run_id, repo, commit, file],
  })
  const [row] = rows
  if (!row)
    throw new Refusal('conflict', `The run does not use ${file} of ${ref}`, {
      code: 'hub.other_run',
    })
  return row.sha256
}
