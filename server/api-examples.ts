import type { Route } from '../auth/route.ts'
import type { RecipeLock } from '../schemas/recipes.ts'
import { mlflowBodies, mlflowQueries } from './mlflow-examples.ts'

type Values = Record<string, unknown>
/** A request that can be sent as it stands, after names are replaced by one's own. */
export type Example = { parameters: Values; body?: unknown }

const run = { run_id: 'demo-1' }
const week = { since: '2026-11-01T00:00:00+00:00' }

/** Parameters of paths by the word before them and their name, as in `/api/runs/{run_id}`. */
const inPaths: Record<string, string | number> = {
  'runs.run_id': run.run_id,
  'jobs.run_id': run.run_id,
  'dead-letters.letter_id': 'forge.facts:0:42',
  'queue.run_id': run.run_id,
  'engines.engine': 'local',
  'duties.duty_id': '01234567-89ab-4cde-8f01-23456789abcd',
  'profiles.name': 'local',
  'projections.name': 'runs',
  'quotas.username': 'ada',
  'users.username': 'ada',
  'sessions.sid': 'ses_01J00000000000000000000000',
  'device.user_code': 'BCDF-GHJK',
  'notifications.notification_id': 'ntf_01J00000000000000000000000',
  'diagnoses.diagnosis_id': 412,
  'projects.name': 'demo',
  'members.username': 'ada',
  'recipes.name': 'digits',
  'recipes.version': '1.0.0',
  'validation.step': 100,
  'prompts.sample_key': 'p_481d04be4cdbb88b',
  'rubrics.owner': 'ada',
  'rubrics.name': 'helpful',
  'assets.file': 'index-B27Xlkrj.js',
  'runs.tab': 'metrics',
  'admin.section': 'audit',
  'uploads.upload_id': 'upl_01J00000000000000000000000',
  'artifacts.run_id': run.run_id,
  'artifacts.path': 'plots/loss.png',
  'artifacts.artifact_id': 'art_01J00000000000000000000000',
  'deployments.deployment_id': 'dep_01J00000000000000000000000',
  'revisions.revision_id': 'rev_01J00000000000000000000000',
  'tokens.token_id': 'dtk_01J00000000000000000000000',
  'models.model': 'math-tutor',
  'playground.session_id': 'pls_01J00000000000000000000000',
  'versions.version': 1,
  'aliases.alias': 'stable',
  'downloads.artifact_id': 'art_01J00000000000000000000000',
}

/** Query parameters that a request needs, or that show what the route is for. */
const address = {
  exp: '1796000000',
  len: '48211',
  sha256: '9f'.repeat(32),
  kid: '0a1b2c3d',
  sig: 'as POST /api/uploads returned it',
}

const queries: Record<string, Values> = {
  'GET /api/jobs': { state: 'running', limit: 20 },
  'GET /api/runs': { project: 'demo', sort: '-created_at', limit: 20 },
  'GET /api/runs/compare': { ids: 'demo-1,demo-2' },
  'GET /api/runs/by-project': { q: 'state:failed' },
  'GET /api/runs/names': { of: 'metrics', contains: 'loss', limit: 20 },
  'GET /api/runs/{run_id}/metrics': { keys: 'loss', buckets: 200 },
  'GET /api/runs/{run_id}/logs': { after: 0, limit: 100 },
  'GET /api/runs/{run_id}/events': { limit: 100, offset: 0 },
  'GET /api/deployments/{deployment_id}/traffic': { status: 200, limit: 20 },
  'GET /api/deployments/{deployment_id}/traffic/summary': { by: 'token' },
  'GET /api/usage': { group: 'project', from: '2026-11-01', to: '2026-11-30' },
  'GET /api/stream': { topics: 'jobs,notifications' },
  'PUT /api/uploads/{upload_id}': address,
  'POST /api/uploads/{upload_id}/parts': address,
  'GET /api/ingest/artifact/upload-url': {
    ...run,
    kind: 'checkpoint',
    format: 'safetensors',
    filename: 'model.safetensors',
    size_bytes: 48_211,
    step: 150,
    sha256: '9f'.repeat(32),
    content_type: 'application/octet-stream',
    parts: 1,
  },
  'GET /api/ingest/artifact/content': {
    ...run,
    artifact_id: 'art_01J00000000000000000000000',
  },
  'DELETE /api/artifacts/{artifact_id}': { dry_run: true },
  'DELETE /api/deployments/{deployment_id}': { dry_run: 'true' },
  'GET /api/downloads/{artifact_id}': {
    exp: '1796000000',
    sha256: '9f'.repeat(32),
    filename: 'model.safetensors',
    kid: '0a1b2c3d',
    sig: 'as GET /api/artifacts/{artifact_id}/download-url returned it',
  },
  ...mlflowQueries,
  'GET /api/audit': { target: 'user:ada', ...week },
  'GET /api/audit/state': { target: 'user:ada', at: '2026-11-20T12:00:00+00:00' },
  'GET /api/audit/diff': {
    target: 'user:ada',
    from: week.since,
    to: '2026-11-20T12:00:00+00:00',
  },
}

const job = (lock: RecipeLock | null) => ({
  api: 'forge/v2',
  metadata: { name: 'first', project: 'demo' },
  lock,
  spec: { params: { lr: 0.01 } },
})

/** Digest of a sample that a judge scored. */
const judged = `sha256:${'5'.repeat(64)}`

const reports: Record<string, unknown> = {
  'POST /api/ingest/lifecycle': { ...run, event: 'running' },
  'POST /api/ingest/metrics': { ...run, points: [{ key: 'loss', step: 1, value: 0.5 }] },
  'POST /api/ingest/hparams': { ...run, params: { lr: 0.01, optimizer: 'adam' } },
  'POST /api/ingest/hardware': {
    ...run,
    points: [
      { ts: '2026-11-20T19:26:53+00:00', node: 'n1', scope: 'gpu', index: 0, util_pct: 97 },
      { ts: '2026-11-20T19:26:53+00:00', node: 'n1', scope: 'host', cpu_pct: 41 },
    ],
  },
  'POST /api/ingest/environment': {
    ...run,
    python: '3.11.9',
    packages: { torch: '2.9.1' },
    git: { commit: 'c0ffee', dirty: false },
  },
  'POST /api/ingest/environment/nodes': {
    ...run,
    nodes: [{ node: 'n1', node_rank: 0, gpu_count: 8, nvlink: 'full' }],
  },
  'POST /api/ingest/benchmark': {
    ...run,
    benchmark: 'gsm8k',
    split: 'test',
    step: 150,
    scores: [{ metric: 'exact_match', value: 0.712, n: 1319 }],
  },
  'POST /api/ingest/rubric/scores': {
    ...run,
    rubric: 'admin/helpful',
    version: 1,
    judge: 'qwen3-32b@1a2b3c',
    scores: [{ sample: judged, score: 0.8, criteria: { clear: 0.8 } }],
  },
  'POST /api/ingest/rubric/scores/lookup': {
    ...run,
    rubric: 'admin/helpful',
    judge: 'qwen3-32b@1a2b3c',
    samples: [judged],
  },
  'POST /api/ingest/logs': { ...run, chunks: ['epoch 1, loss 0.5\n'] },
  'POST /api/ingest/alert': {
    ...run,
    title: 'Reward collapsed',
    level: 'error',
    text: 'mean reward fell from 0.6 to 0.1 within 20 steps',
  },
  'POST /api/ingest/validation': {
    ...run,
    step: 100,
    samples: [{ user: 'What is 2 + 2?', assistant: '4', reward: 1 }],
    avg_reward: 1,
  },
  ...mlflowBodies,
  'POST /api/ingest/artifact': {
    ...run,
    kind: 'checkpoint',
    path: '/data/demo/step-100.npz',
    format: 'npz',
    step: 100,
  },
}

/** Bodies by method and path; a body that may be absent needs no entry. */
const bodies = (lock: RecipeLock | null): Record<string, unknown> => ({
  'POST /api/auth/login': { username: 'ada', password: 'correct horse battery' },
  'POST /api/auth/password': { current: 'correct horse battery', new: 'staple of another horse' },
  'POST /api/cli/device/token': { device_code: 'what POST /api/cli/device/code returned' },
  'POST /api/admin/users': { username: 'ada', role: 'operator', display_name: 'Ada' },
  'PATCH /api/admin/users/{username}': { role: 'admin' },
  'POST /api/admin/quotas': {
    username: 'ada',
    max_concurrent_gpus: 8,
    max_concurrent_jobs: 4,
    allowed_profiles: ['local'],
  },
  'PUT /api/admin/profiles/{name}': { series: 'H200', gpus_per_node: 8, executor: 'local' },
  'PUT /api/admin/image-registries': { registries: ['registry.example.com/team'] },
  'POST /api/admin/retention': { dry_run: true, keep: { latest: 2 }, older_than_days: 90 },
  'PUT /api/admin/maintenance': { enabled: false },
  'PUT /api/admin/queue': { paused: true, reason: 'new disks until noon' },
  'PUT /api/admin/engines/{engine}': { draining: true, reason: 'a fan is loud' },
  'POST /api/jobs': job(lock),
  'POST /api/jobs/preflight': job(lock),
  'PATCH /api/jobs/{run_id}': { priority: 10, tags: ['baseline'] },
  'POST /api/job/diagnose': { job_id: run.run_id },
  'POST /api/admin/recipes': { upload_id: 'upl_01J00000000000000000000000' },
  'POST /api/uploads': { purpose: 'package', filename: 'package.tar.gz', size_bytes: 48_211 },
  'POST /api/runs': { project: 'demo', name: 'train.py', tags: ['baseline'] },
  'PATCH /api/projects/{name}': { visibility: 'internal' },
  'PUT /api/projects/{name}/members/{username}': { role: 'member' },
  'PUT /api/rubrics/{owner}/{name}': { name: 'helpful', criteria: [{ name: 'clear' }] },
  'POST /api/models': { name: 'math-tutor', project: 'demo' },
  'PATCH /api/models/{model}': { protected_aliases: ['production', 'canary'] },
  'POST /api/models/{model}/versions': {
    artifact_id: 'art_01J00000000000000000000000',
    stage_notes: 'the best checkpoint of the long run',
  },
  'PATCH /api/models/{model}/versions/{version}': { stage_notes: 'checked by hand' },
  'PUT /api/models/{model}/aliases/{alias}': { version: 1, reason: 'best so far' },
  'POST /api/playground': {
    source: { revision_id: 'rev_01J00000000000000000000000' },
    idle_timeout_s: 1800,
  },
  'POST /api/deployments': {
    name: 'math-tutor',
    project: 'demo',
    source: { kind: 'external', url: 'http://10.0.0.7:8000' },
  },
  'PATCH /api/deployments/{deployment_id}': { replicas: { min: 1, max: 2 } },
  'POST /api/deployments/{deployment_id}/revisions': {
    source: { kind: 'external', url: 'http://10.0.0.8:8000' },
  },
  'POST /api/deployments/{deployment_id}/tokens': { name: 'web-app' },
  'POST /api/rubrics/{owner}/{name}/scores': {
    version: 1,
    judge: 'qwen3-32b@1a2b3c',
    scores: [{ sample: judged, score: 0.8, criteria: { clear: 0.8 } }],
  },
  'POST /api/rubrics/{owner}/{name}/scores/lookup': {
    judge: 'qwen3-32b@1a2b3c',
    samples: [judged],
  },
  ...reports,
})

/** The example of a route. `lock` is the lock of a recipe of this installation. */
export function exampleOf(route: Route, lock: RecipeLock | null): Example {
  const name = `${route.method} ${route.path}`
  const body = bodies(lock)[name]
  return {
    parameters: { ...parametersInPath(route.path), ...queries[name] },
    ...(body !== undefined && { body }),
  }
}

function parametersInPath(path: string): Values {
  const found: Values = {}
  let noun = ''
  for (const part of path.split('/')) {
    const name = /^\{\+?(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) noun = part
    else found[name] = inPaths[`${noun}.${name}`]
  }
  return found
}
