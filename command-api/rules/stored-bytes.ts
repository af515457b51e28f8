import type { Pool } from 'pg'

export type Stored = { owner: string; project: string | null; bytes: string }

/**
 * The data stored now, by owner and project, that is billed: artifacts, imported models and the files of datasets, each file of a
 * person once. The only definition of billed storage.
 */
export async function readStored(pool: Pool): Promise<Stored[]> {
  const { rows } = await pool.query<Stored>({
    name: 'stored_bytes',
    text: `select owner, project, sum(bytes)::text as bytes from (
             select r.owner, r.project, coalesce(a.size_bytes, 0) as bytes
               from write.resource r join write.artifact a on a.artifact_id = r.id
              where r.kind = 'artifact' and a.deleted_at is null
              union all
             select i.owner, null, f.size_bytes from write.hub_import i join write.hub_file f using (import_id)
              union all
             select d.owner, null, d.bytes from (
               select distinct v.owner, f ->> 'sha256' as sha256, (f ->> 'size_bytes')::bigint as bytes
                 from write.dataset_version v, jsonb_array_elements(v.files) f where v.deleted_at is null) d) stored
            where owner is not null
            group by owner, project having sum(bytes) > 0 order by owner, project limit 100000`,
  })
  return rows
}
