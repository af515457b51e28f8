import type { Dataset, DatasetEvent } from '../../events/datasets.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { DatasetPatch } from '../../schemas/datasets/datasets.ts'
import { Invalid } from '../../schemas/validate.ts'
import { existing } from '../rules/versions.ts'

/** The maximum of one dataset, because they are folded together. */
const maxVersions = 1000
const maxGrants = 500

type Data<T extends DatasetEvent['type']> = Extract<DatasetEvent, { type: T }>['data']
type Name = { owner: string; name: string }

export type Push = Omit<Data<'dataset.version_created'>, 'version'> & {
  /** The number that the caller expects; undefined: the next one. */
  version: number | undefined
  settings: DatasetPatch
}

const initialSettings = {
  visibility: 'private',
  use: 'everybody',
  license: null,
  card: '',
} as const

/** A dataset without versions, for the first of which a client uploads files next. */
export function createDataset(
  dataset: Dataset,
  { owner, name, settings }: Name & { settings: DatasetPatch },
): DatasetEvent[] {
  if (dataset)
    throw new Refusal('conflict', `The dataset ${owner}/${name} exists already`, {
      code: 'dataset.exists',
    })
  return [{ type: 'dataset.created', data: { owner, name, ...initialSettings, ...settings } }]
}

/** Numbers count up and are never reused. Idempotent: pushing the files of the newest version again makes no other. */
export function pushVersion(
  dataset: Dataset,
  { settings, version, ...made }: Push,
): DatasetEvent[] {
  const { owner, name } = made
  if (sameAsNewest(dataset, made)) return changeDataset(dataset, { owner, name }, settings)
  const next = (dataset?.versions.length ?? 0) + 1
  if (version !== undefined && version !== next) refuseNumber(made, version, next)
  if (next > maxVersions)
    throw new Refusal('conflict', `${owner}/${name} has ${maxVersions} versions, the maximum`)
  const before: DatasetEvent[] = dataset
    ? changeDataset(dataset, { owner, name }, settings)
    : [{ type: 'dataset.created', data: { owner, name, ...initialSettings, ...settings } }]
  return [...before, { type: 'dataset.version_created', data: { ...made, version: next } }]
}

/** Whether the newest version has the same files and the same options of validation. */
function sameAsNewest(
  dataset: Dataset,
  { digest, kind, tokenizer }: Omit<Push, 'settings' | 'version'>,
): boolean {
  const newest = dataset?.versions.at(-1)
  return (
    newest !== undefined &&
    !newest.is_deleted &&
    newest.digest === digest &&
    newest.kind === kind &&
    newest.tokenizer === (tokenizer?.sha256 ?? null)
  )
}

function refuseNumber({ owner, name }: Name, version: number, next: number): never {
  if (version < next)
    throw new Refusal('conflict', `${owner}/${name} has a version ${version} already`, {
      code: 'dataset.version_exists',
      data: { version, next },
      hint: 'Leave out the version: the next number is taken',
    })
  throw new Invalid([
    {
      loc: ['body', 'version'],
      msg: `Value error, the next version of ${owner}/${name} is ${next}`,
      type: 'value_error',
      input: version,
    },
  ])
}

export function changeDataset(dataset: Dataset, named: Name, patch: DatasetPatch): DatasetEvent[] {
  const { owner, name, visibility, use, license, card } = existing('dataset', dataset, named)
  const before = { visibility, use, license, card }
  const after = { ...before, ...patch }
  if (JSON.stringify(after) === JSON.stringify(before)) return []
  return [{ type: 'dataset.changed', data: { owner, name, ...after } }]
}

/** Both false: withdraws the grant. */
export function grantDataset(dataset: Dataset, grant: Data<'dataset.granted'>): DatasetEvent[] {
  const { grants } = existing('dataset', dataset, grant)
  const { username, see, use } = grant
  const before = grants.find(one => one.username === username)
  if ((before?.see ?? false) === see && (before?.use ?? false) === use) return []
  if (!before && grants.length >= maxGrants)
    throw new Refusal(
      'conflict',
      `${grant.owner}/${grant.name} has ${maxGrants} grants, the maximum`,
    )
  return [{ type: 'dataset.granted', data: grant }]
}

/** Idempotent: only the first result of a version counts, and none of a deleted one. */
export function validateVersion(
  dataset: Dataset,
  result: Data<'dataset.validated'>,
): DatasetEvent[] {
  const found = dataset?.versions.find(one => one.version === result.version)
  if (found?.state !== 'validating' || found.is_deleted) return []
  return [{ type: 'dataset.validated', data: result }]
}
