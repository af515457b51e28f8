import test from 'ava'
import type { Diagnosis } from '../../schemas/diagnoses.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import {
  type DoomedKind,
  diagnosisOf,
  doomedKinds,
  prepareDoomed,
  submitDoomed,
} from './doomed-runs.ts'

/** Failures visible only by timing are measured by `npm run bench:diagnose`: a busy machine is slow and silent as well. */
const takesTime: readonly DoomedKind[] = ['hang', 'slow']

const withinMs = 200_000

test('real failures are diagnosed with the right category, with evidence', async t => {
  t.timeout(patient(2 * withinMs))
  const forge = await startForge(t, { SERVICE_LOCAL_GPUS: '16' })
  const lock = await prepareDoomed(forge)
  const kinds = (Object.keys(doomedKinds) as DoomedKind[]).filter(kind => !takesTime.includes(kind))
  const runs = await Promise.all(
    kinds.map(async kind => ({ kind, run_id: await submitDoomed(forge, { lock, kind, seed: 1 }) })),
  )
  const found: Record<string, Diagnosis> = {}
  for (const { kind, run_id } of runs)
    found[kind] = await until(`${kind} is diagnosed`, withinMs, () => diagnosisOf(forge, run_id))
  t.deepEqual(
    Object.fromEntries(kinds.map(kind => [kind, found[kind]?.category])),
    Object.fromEntries(kinds.map(kind => [kind, doomedKinds[kind]])),
    JSON.stringify(found, null, 1),
  )
  for (const kind of kinds) t.true((found[kind]?.evidence?.length ?? 0) > 0, kind)
})
