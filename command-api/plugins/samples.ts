import type { PluginHook } from '../../schemas/plugin-words.ts'

const run = {
  run_id: 'run_01EXAMPLE',
  short_id: 'example-1',
  project: 'example',
  owner: 'example',
}
const event = { event_id: 'evt_example', occurred_at: '2026-01-01T00:00:00Z' }
const admission = {
  submitter: { username: 'example', role: 'operator' },
  project: 'example',
  spec: {
    api: 'forge/v2',
    kind: 'train',
    metadata: { name: 'example', project: 'example', labels: {}, tags: [] },
    spec: { params: { learning_rate: 0.001 }, resources: { nodes: 1, gpus_per_node: 1 } },
  },
}

/** What a plugin is sent by a test; `test` marks it. */
export const sampleOf = (hook: PluginHook): Record<string, unknown> => ({
  ...samples[hook],
  dry_run: true,
  test: true,
})

const samples: Readonly<Record<PluginHook, Record<string, unknown>>> = {
  'admission.mutate': admission,
  'admission.validate': admission,
  'job.terminal': {
    ...{ ...event, ...run, attempt: 1, state: 'succeeded', state_reason: 'exit' },
    ...{ exit_code: 0, message: null, url: 'https://forge.example.com/runs/run_01EXAMPLE' },
  },
  'artifact.registered': {
    ...{ ...event, artifact_id: 'art_01EXAMPLE', run_id: run.run_id, kind: 'checkpoint' },
    ...{ path: 'checkpoints/step-100', step: 100, size_bytes: 1024 },
    url: 'https://forge.example.com/runs/run_01EXAMPLE',
  },
  'deployment.promote': {
    ...{ deployment_id: 'dep_01EXAMPLE', revision_id: 'rev_01EXAMPLE', name: 'example' },
    ...{ project: 'example', owner: 'example', promoted_revision_id: null },
    ...{ by: 'example', is_automatic: false, reason: '' },
  },
  'diagnosis.analyze': {
    ...{ ...run, diagnosis_id: 1, attempt: 1, category: 'oom', title: 'Out of GPU memory' },
    ...{ root_cause: 'CUDA out of memory', confidence: 0.9, evidence: [], suggestions: [] },
  },
}
