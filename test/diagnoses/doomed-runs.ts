import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnosis, FailureCategory } from '../../schemas/diagnoses.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import type { Calls } from '../uploads/sending.ts'

/** The failure kinds of `doomed/train.py`, and the expected diagnoses. */
export const doomedKinds = {
  memory: 'host_oom',
  exception: 'code_exception',
  nan: 'loss_nonfinite',
  hang: 'stalled',
  disk: 'disk_full',
  data: 'data_error',
  killed: 'killed',
  missing: 'env_build',
  slow: 'timeout',
  checkpoint: 'checkpoint_error',
  config: 'config_error',
  crash: 'code_exception',
} as const satisfies Record<string, FailureCategory>
export type DoomedKind = keyof typeof doomedKinds

const recipe = {
  name: 'doomed',
  version: '1.0.0',
  title: 'Fails',
  framework: { name: 'python', version: '3', runtime_id: 'rt_doomed' },
  params_schema: {
    properties: { kind: { enum: Object.keys(doomedKinds) }, seed: { type: 'integer' } },
    required: ['kind', 'seed'],
    additionalProperties: false,
  },
  params_default: { kind: 'exception', seed: 0 },
}

const roomFor = { username: 'admin', max_concurrent_gpus: 64, max_concurrent_jobs: 64 }

/** Adds the recipe, and lets the administrator run many jobs at once; returns its lock. */
export async function prepareDoomed(forge: Calls): Promise<object> {
  await forge.call('POST', '/api/admin/quotas', { body: roomFor })
  const program = readFileSync(join(import.meta.dirname, 'doomed/train.py'), 'utf8')
  const added = await addArchive(forge, archiveOf(recipe, { 'train.py': program }))
  if (added.status !== 200) throw new Error(JSON.stringify(added.body))
  const { body } = await forge.call<object>('GET', '/api/recipes/doomed/1.0.0/lock')
  return body
}

/** Seconds after which a job that is still running is stopped: much longer than its start takes. */
const limits = { hang: 40, slow: 30 } as const

type Doomed = { lock: object; kind: DoomedKind; seed: number }

/** Submits a job that will fail; returns its run id. */
export async function submitDoomed(forge: Calls, { lock, kind, seed }: Doomed): Promise<string> {
  const max_duration_s = kind === 'hang' || kind === 'slow' ? limits[kind] : 300
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: `${kind} ${seed}`, project: 'doomed' },
      lock,
      spec: {
        params: { kind, seed },
        resources: { gpus_per_node: 1 },
        limits: { max_duration_s, stop_grace_s: 1 },
      },
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.run_id
}

/** The automatic diagnosis of a run; undefined until it is finished. */
export async function diagnosisOf(forge: Calls, run_id: string): Promise<Diagnosis | undefined> {
  const { status, body } = await forge.call<Diagnosis[]>('GET', `/api/jobs/${run_id}/diagnoses`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.find(({ finished_at }) => finished_at !== null)
}
