import type { Pool } from 'pg'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import type { PackageFacts } from './facts.ts'

type Source = JobSpec['spec']['source']
type Found = { package: PackageFacts | null; dangling: string[] }

/** Whose packages a spec may name: the submitter's own, and the package of the job being retried. */
export type Lenders = { username: string; retryOf: string | null }

/**
 * The uploaded package of a spec. Uploads of other people look missing, even to admins: an upload belongs to its owner alone,
 * and only a retry of its job may use it, too.
 */
export async function findPackage(
  pool: Pool,
  { kind, upload_id, digest, size_bytes }: Source,
  { username, retryOf }: Lenders,
): Promise<Found> {
  const fault = (text: string): Found => ({ package: null, dangling: [text] })
  if (kind !== 'package') return { package: null, dangling: [] }
  if (upload_id === null)
    return fault('spec.source.upload_id is missing: upload the package first (POST /api/uploads)')
  const { rows } = await pool.query({
    name: 'package_of_spec',
    text: `select upload_id, 'sha256:' || sha256 as digest, size_bytes::float8 as size_bytes, files,
                  expanded_bytes::float8 as expanded_bytes, sensitive
             from write.upload
            where upload_id = $1 and purpose = 'package' and completed_at is not null
              and (owner = $2 or exists (select from write.job_state j where j.run_id = $3 and j.upload_id = $1))`,
    values: [upload_id, username, retryOf],
  })
  const found: PackageFacts | undefined = rows[0]
  if (!found && retryOf !== null)
    return fault('The package of the job has been deleted: submit the job again with its files')
  if (!found)
    return fault(
      `No such package: ${upload_id}, registered by POST /api/uploads/${upload_id}/complete`,
    )
  if (digest !== null && digest !== found.digest)
    return fault(`Package ${upload_id} has the digest ${found.digest}, not ${digest}`)
  if (size_bytes !== null && size_bytes !== found.size_bytes)
    return fault(`Package ${upload_id} has ${found.size_bytes} bytes, not ${size_bytes}`)
  return { package: found, dangling: [] }
}

/** The stored form of the spec, which names the content of its package. */
export function withPackage(spec: JobSpec, found: PackageFacts | null): JobSpec {
  if (found === null) return spec
  const { digest, size_bytes } = found
  const source = { ...spec.spec.source, digest, size_bytes }
  return { ...spec, spec: { ...spec.spec, source } }
}
