import type { AdmissionFacts } from '../../command-api/jobs/admission/facts.ts'
import { defaultQuota } from '../../schemas/quotas.ts'
import type { Recipe } from '../../schemas/recipes.ts'
import { specOf } from './given.ts'

export const digest = `sha256:${'9f'.repeat(32)}`
export const recipe: Recipe = {
  name: 'grpo',
  version: '1.4.2',
  digest,
  title: 'GRPO',
  kind: 'train',
  framework: { name: 'verl', version: '0.6.1', runtime_id: 'rt_verl' },
  entrypoint: 'train.py',
  params_schema: {},
  params_default: {},
  image: null,
  resources: { min_gpus: 1, min_nodes: 1, profiles: [] },
  outputs: [],
  deprecated: false,
}

export const profile = {
  name: 'h100-8x',
  series: 'H100',
  gpus_per_node: 8,
  max_nodes: 4,
  cpus: 64,
  memory_gb: 512,
  executor: 'local',
  container: true,
  available: true,
  price_per_gpu_hour: '3.00',
}

/** The facts of a job that passes every gate, with a test's changes. */
export const factsOf = (
  spec: Record<string, unknown> = {},
  changed: Partial<AdmissionFacts> = {},
): AdmissionFacts => ({
  spec: specOf(spec),
  caller: { username: 'ada', role: 'operator' },
  project: null,
  projectTeam: null,
  team: null,
  recipe,
  recipes: ['grpo'],
  params: { value: {}, errors: [] },
  past: null,
  registries: ['registry.internal/forge'],
  quota: defaultQuota,
  held_gpus: 0,
  profile,
  profiles: ['h100-8x'],
  idle: [{ profile, gpus: 32 }],
  executors: ['local'],
  dangling: [],
  forbidden: [],
  deprecated: [],
  deprecatedEnvironments: [],
  resolved: { init_from: null, datasets: [] },
  approvalRules: [],
  labels: [],
  package: null,
  serving: null,
  ...changed,
})

export const gpus = (gpus_per_node: number) => ({ resources: { gpus_per_node } })
