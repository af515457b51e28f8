import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sample } from './sample.ts'

/** In which order samples are made, because some need what others have created. Others follow, by name, and may need them all. */
const order = [
  'users',
  // The first passkey of a person ends their other sessions.
  'passkeys',
  'sessions',
  'oidc',
  'keys',
  'notifications',
  'devices',
  'maintenance',
  'image-registries',
  'quotas',
  'queue',
  'profiles',
  'projections',
  'duties',
  'dead-letters',
  'recipes',
  'pages',
  'runs',
  'rubrics',
  'lifecycle',
  'hparams',
  'metrics',
  'logs',
  'validation',
  'hardware',
  'environment',
  'benchmarks',
  'artifacts',
  'diagnoses',
  'alerts',
  'mlflow',
  'labels',
  'uploads',
  'projects',
  'models',
  'datasets',
  'deployments',
  'jobs',
  'usage',
  'changes',
  'streams',
  'audit',
]

const isSample = (file: string): boolean =>
  /^export const \w+Sample: Sample\b/m.test(readFileSync(join(import.meta.dirname, file), 'utf8'))

/** The exports of this folder's files whose names end in `Sample`. */
const found: readonly Sample[] = (
  await Promise.all(
    readdirSync(import.meta.dirname)
      .filter(isSample)
      .map((file): Promise<Record<string, unknown>> => import(join(import.meta.dirname, file))),
  )
).flatMap(module =>
  Object.entries(module).flatMap(([name, value]) =>
    name.endsWith('Sample') ? [value as Sample] : [],
  ),
)

const placeOf = ({ slice }: Sample): number =>
  order.includes(slice) ? order.indexOf(slice) : order.length

/** The sample of every slice, in the order in which they are made. */
export const samples: readonly Sample[] = found.toSorted(
  (a, b) => placeOf(a) - placeOf(b) || (a.slice < b.slice ? -1 : 1),
)
