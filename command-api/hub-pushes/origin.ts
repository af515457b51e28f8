import type { Pool } from 'pg'
import type { JobAdmitted } from '../../events/jobs.ts'
import { pinnedModel } from '../../schemas/hub-reference.ts'
import { licenseOfVersion } from '../rules/exports.ts'
import type { Origin } from './card.ts'
import type { Content } from './content.ts'

/** How far back the chain of runs is followed. */
const maxSteps = 20

type Admitted = Pick<JobAdmitted, 'short_id' | 'recipe' | 'spec' | 'resolved'>

/** The origin of an artifact, from the records; the hub is asked for the license of the base model. */
export async function originOf(
  pool: Pool,
  content: Content,
  { repo, licenseOf }: { repo: string; licenseOf: LicenseOf },
): Promise<Origin> {
  const job = await admitted(pool, content.run_id)
  const { base, ancestors } = await chainOf(pool, job)
  return {
    name: repo.split('/')[1] ?? repo,
    job: job && {
      ...{ short_id: job.short_id, recipe: job.recipe },
      datasets: job.spec.spec.datasets.flatMap(({ ref, split }) => {
        const found = job.resolved.datasets.find(one => one.ref === ref || sameName(one.ref, ref))
        return found ? [{ ...found, split }] : []
      }),
    },
    base,
    license:
      (await licenseOfVersion(pool, content.artifact_id)) ?? (base && (await licenseOf(base))),
    metrics: content.metrics,
    artifact: content,
    ancestors,
  }
}

type LicenseOf = (base: { repo: string; commit: string }) => Promise<string | null>

/** The spec may name a dataset without its version. */
const sameName = (pinned: string, asked: string) => pinned.replace(/@\d+$/, '') === asked

async function admitted(pool: Pool, run_id: string): Promise<Admitted | null> {
  const { rows } = await pool.query<{ data: Admitted }>({
    name: 'job_of_hub_push',
    text: `select data from write.event where stream = $1 and stream_version = 1 and type = 'job.admitted'`,
    values: [`job-${run_id}`],
  })
  return rows[0]?.data ?? null
}

/** The model of the hub that the first run of the chain started from. */
async function chainOf(pool: Pool, first: Admitted | null) {
  const ancestors: string[] = []
  const seen = new Set<string>()
  let job = first
  for (let step = 0; job !== null && step < maxSteps; step++) {
    const base = pinnedModel(job.spec.spec.model?.ref)
    const before = job.resolved.init_from?.run_id
    if (base || before === undefined || seen.has(before)) return { base, ancestors }
    seen.add(before)
    job = await admitted(pool, before)
    if (job) ancestors.push(job.short_id)
  }
  return { base: null, ancestors }
}
