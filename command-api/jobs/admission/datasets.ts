import type { Pool } from 'pg'
import type { Resolved } from '../../../schemas/jobs/jobs.ts'
import type { JobSpec } from '../../../schemas/jobs/jobspec.ts'
import { type DatasetOfJob, resolveDataset } from '../../rules/dataset-reference.ts'

type Asked = JobSpec['spec']['datasets']
type Lookup = { pool: Pool; caller: { username: string; role: string } }

/** `forbidden`: `owner/name` of datasets that the submitter may see, but not use; `deprecated`: versions, `owner/name@3`. */
export type FoundDatasets = {
  faults: string[]
  forbidden: string[]
  deprecated: string[]
  datasets: Resolved['datasets']
}

/** The versions that the spec names now, each once, in the order in which it first names them. */
export async function resolveDatasets(
  asked: Asked,
  { pool, caller }: Lookup,
): Promise<FoundDatasets> {
  const refs = [...new Set(asked.map(({ ref }) => ref))]
  const answers = await Promise.all(
    refs.map(async asked => ({ asked, ...(await resolveDataset(pool, asked, caller)) })),
  )
  const found = answers.flatMap(answer => (answer.is === 'found' ? answer : []))
  const forbidden = answers.flatMap(answer => (answer.is === 'forbidden' ? answer.dataset : []))
  return {
    faults: [
      ...repeatedNames(asked),
      ...answers.flatMap(one => (one.is === 'missing' ? `No such dataset: ${one.asked}` : [])),
      ...found.flatMap(dataset =>
        faultsOf(
          dataset,
          asked.filter(({ ref }) => ref === dataset.asked),
        ),
      ),
    ],
    forbidden: [...new Set(forbidden)],
    deprecated: found.flatMap(({ ref, state }) => (state === 'deprecated' ? ref : [])),
    datasets: found.map(({ ref, digest }) => ({ ref, digest })),
  }
}

/** The run finds its data by these names. */
function repeatedNames(asked: Asked): string[] {
  const names = asked.map(({ as }) => as)
  const repeated = names.filter((name, index) => names.indexOf(name) < index)
  return [...new Set(repeated)].map(
    name => `Several datasets are called ${name}; give each a name of its own (as)`,
  )
}

function faultsOf({ ref, state, splits }: DatasetOfJob, asked: Asked): string[] {
  if (state === 'invalid') return [`The dataset ${ref} is invalid; its errors are listed with it`]
  if (state === 'validating') return [`The dataset ${ref} is still being validated`]
  return asked.flatMap(({ split }) =>
    split === null || splits?.includes(split)
      ? []
      : `The dataset ${ref} has no split ${split}; it has ${splits?.join(', ')}`,
  )
}
