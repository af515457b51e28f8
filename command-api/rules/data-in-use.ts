import type { Pool } from 'pg'
import { digestOf } from '../../platform/digest.ts'
import type { HubFile } from '../../schemas/hub-imports.ts'
import { endStates } from '../../schemas/jobs/jobs.ts'
import { filed } from './imported-models.ts'

const unfinished = `write.job_state j join write.use u
  on u.user_kind = 'run' and u.user_id = j.run_id and u.until is null
 and (j.is_active or j.state <> all($1))`

/** The digests of the datasets, RL environments and imported models that unfinished jobs need, as 64 hex digits. */
export async function dataInUse(pool: Pool): Promise<ReadonlySet<string>> {
  const datasets = await pool.query<{ digest: string }>(
    `select distinct v.digest from ${unfinished}
       join write.dataset_version v on u.used_kind = 'dataset'
        and v.owner = split_part(u.used_id, '/', 1) and v.owner || '/' || v.name || '@' || v.version = u.used_id`,
    [endStates],
  )
  const environments = await pool.query<{ digest: string }>(
    `select distinct v.digest from ${unfinished}
       join write.rl_environment_version v on u.used_kind = 'rl_environment'
        and v.owner = split_part(u.used_id, '/', 1) and v.owner || '/' || v.name || '@' || v.version = u.used_id`,
    [endStates],
  )
  const models = await pool.query<{ files: HubFile[] }>(
    `select (select coalesce(json_agg(json_build_object('name', f.name, 'sha256', f.sha256) order by f.name), '[]')
               from write.hub_file f where f.import_id = u.used_id) as files
       from ${unfinished} where u.used_kind = 'hub_import' group by u.used_id`,
    [endStates],
  )
  const digests = [
    ...[...datasets.rows, ...environments.rows].map(({ digest }) => digest),
    ...models.rows.map(({ files }) => digestOf(files.map(filed))),
  ]
  return new Set(digests.map(digest => digest.replace(/^sha256:/, '')))
}
