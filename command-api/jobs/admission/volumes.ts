import type { Pool } from 'pg'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import type { Profile } from '../../../schemas/profiles.ts'
import { volumesNamed } from '../../rules/volumes.ts'

/** The faults of a spec's volumes, which must be the submitter's own. */
export async function volumeFaults(
  pool: Pool,
  { spec: { volumes } }: JobSpec,
  { owner, profile }: { owner: string; profile: Pick<Profile, 'executor'> | null },
): Promise<string[]> {
  if (volumes.length === 0) return []
  const names = volumes.map(({ name }) => name)
  const paths = volumes.map(({ mount_path }) => mount_path)
  const known = await volumesNamed(pool, owner, names)
  const faultsOf = ({ name, read_only }: (typeof volumes)[number]): string[] => {
    const found = known.get(name)
    if (!found) return [`No such volume: ${name}`]
    const isElsewhere = profile !== null && profile.executor !== found.backend
    return [
      ...(found.read_only && !read_only
        ? [`The volume ${name} is read-only; mount it with read_only: true`]
        : []),
      ...(isElsewhere
        ? [`The volume ${name} is on ${found.backend}, and the job runs on ${profile.executor}`]
        : []),
    ]
  }
  return [
    ...repeated(names).map(name => `The volume ${name} is named twice; mount it once`),
    ...repeated(paths).map(at => `Several volumes are mounted at ${at}; give each its own path`),
    ...volumes.flatMap(faultsOf),
  ]
}

const repeated = (values: readonly string[]): string[] => [
  ...new Set(values.filter((value, index) => values.indexOf(value) < index)),
]
