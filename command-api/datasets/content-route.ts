import { type Route, route } from '../../auth/route.ts'
import { Refusal } from '../../platform/refusal.ts'
import { datasetOfRunQuery } from '../../schemas/datasets/datasets.ts'
import { parseDatasetReference } from '../../schemas/datasets/reference.ts'
import type { Deps } from '../deps.ts'
import { ofContentForRuns, sendContentToRun } from '../rules/content-for-runs.ts'

/** The files of the datasets that a job names, for its preparation. The token of the run gives access to these and to no others. */
export const contentRoute = (deps: Deps): Route =>
  route({
    ...ofContentForRuns,
    path: '/api/ingest/dataset/content',
    summary: 'The bytes of a file of a dataset that the run uses',
    query: datasetOfRunQuery,
    handle({ caller, query, ctx }) {
      const { ref, file } = query
      const find = () => digestOfFile(deps, { run_id: caller.runId, ref, file })
      return sendContentToRun(deps, { caller, ctx, asked: query, ref, find })
    },
  })

type Wanted = { run_id: string; ref: string; file: string }

async function digestOfFile({ pool }: Deps, { run_id, ref, file }: Wanted): Promise<string> {
  const { owner, name, version } = parseDatasetReference(ref) ?? {}
  const { rows } = await pool.query<{ sha256: string | null; deleted_at: Date | null }>({
    name: 'dataset_of_run',
    text: `select v.deleted_at, (select one ->> 'sha256' from jsonb_array_elements(v.files) one where one ->> 'name' = $6) as sha256
             from write.use u join write.dataset_version v on v.owner = $3 and v.name = $4 and v.version = $5
            where u.user_kind = 'run' and u.user_id = $1 and u.used_kind = 'dataset' and u.used_id = $2
            limit 1`,
    values: [run_id, ref, owner, name, version, file],
  })
  const [row] = rows
  if (!row?.sha256)
    throw new Refusal('conflict', `The run does not use ${file} of ${ref}`, {
      code: 'dataset.other_run',
    })
  if (row.deleted_at !== null)
    throw new Refusal('gone', `The dataset ${ref} was deleted`, { code: 'dataset.deleted' })
  return row.sha256
}
