import type { Pool } from 'pg'

/** The newest artifact of a run in the form of the hub. */
export async function newestExport(pool: Pool, run_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ artifact_id: string }>({
    name: 'newest_export_of_run',
    text: `select artifact_id from write.artifact
            where run_id = $1 and kind = 'hf_export' and deleted_at is null and not is_missing
            order by step desc, artifact_id desc limit 1`,
    values: [run_id],
  })
  return rows[0]?.artifact_id ?? null
}

/** The license that a version of a model has, if the artifact is one with a license. */
export async function licenseOfVersion(pool: Pool, artifact_id: string): Promise<string | null> {
  const { rows } = await pool.query<{ license: string | null }>({
    name: 'license_of_artifact',
    text: `select e.data ->> 'license' as license
             from write.model_version v join write.event e on e.stream = 'model-' || v.model
            where v.artifact_id = $1 and e.type = 'model.version_created' and e.data ->> 'artifact_id' = $1
              and e.data ->> 'license' is not null
            order by v.model limit 1`,
    values: [artifact_id],
  })
  return rows[0]?.license ?? null
}
