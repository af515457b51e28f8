import test from 'ava'
import { sources } from './sources.ts'

/** The slice that owns each table of the write side; tables of `everybody` belong to the code outside the slices. */
const ownerOf: Record<string, string> = {
  'auth.deployment_token': 'deployments',
  'auth.device_code': 'devices',
  'auth.failed_login': 'sessions',
  'auth.identity': 'oidc',
  'auth.ingest_token': 'everybody',
  'auth.maintenance': 'maintenance',
  'auth.oidc_flow': 'oidc',
  'auth.person': 'users',
  'auth.refresh_token': 'sessions',
  'auth.session': 'sessions',
  'auth.sign_in_delay': 'sessions',
  'auth.sign_in_network': 'sessions',
  'write.alert_open': 'alerts',
  'write.alert_watch': 'alerts',
  'write.artifact': 'artifacts',
  'write.audit_chain': 'everybody',
  'write.audit_head': 'everybody',
  'write.deployment_route': 'deployments',
  'write.deployment_state': 'deployments',
  'write.diagnosis_number': 'diagnoses',
  'write.drain': 'queue',
  'write.duty': 'duties',
  'write.engine': 'jobs',
  'write.epoch': 'everybody',
  'write.event': 'everybody',
  'write.fencing_token': 'jobs',
  'write.follower': 'followers',
  'write.follower_dead_letter': 'followers',
  'write.follower_effect': 'followers',
  'write.gpu_slot': 'jobs',
  'write.gpu_use': 'jobs',
  'write.idempotency': 'everybody',
  'write.image_registry': 'image-registries',
  'write.job_state': 'jobs',
  'write.may_read': 'everybody',
  'write.model': 'models',
  'write.model_alias': 'models',
  'write.model_version': 'models',
  'write.past_hold': 'jobs',
  'write.past_run': 'jobs',
  'write.past_wait': 'jobs',
  'write.playground_session': 'deployments',
  'write.profile': 'profiles',
  'write.profile_rate': 'profiles',
  'write.project': 'projects',
  'write.project_member': 'projects',
  'write.queue_switch': 'queue',
  'write.quota': 'quotas',
  'write.quota_hold': 'jobs',
  'write.recipe': 'recipes',
  'write.recipe_change': 'recipes',
  'write.relay_cursor': 'everybody',
  'write.replica': 'deployments',
  'write.replica_route': 'deployments',
  'write.resource': 'everybody',
  'write.revision_state': 'deployments',
  'write.rubric_score': 'rubrics',
  'write.rubric_score_version': 'rubrics',
  'write.run_state': 'runs',
  'write.schedule': 'duties',
  'write.serving_epoch': 'deployments',
  'write.serving_load': 'deployments',
  'write.snapshot': 'everybody',
  'write.upload': 'uploads',
  'write.use': 'everybody',
  'write.validation_round': 'validation',
}

/**
 * How many files of a slice still name a table of another one. It may only shrink: what a slice must know of things of others is in
 * `write.resource` and `write.use`, which every slice declares (`command-api/kind.ts`).
 */
const exceptions: Record<string, number> = {
  'alerts: write.gpu_use': 1,
  'alerts: write.job_state': 1,
  'alerts: write.run_state': 3,
  'artifacts: write.job_state': 1,
  'artifacts: write.profile': 1,
  'artifacts: write.run_state': 1,
  'artifacts: write.upload': 3,
  'deployments: auth.person': 2,
  'deployments: write.job_state': 2,
  'deployments: write.profile': 1,
  'devices: auth.person': 1,
  'devices: auth.session': 2,
  'duties: write.follower_effect': 1,
  'jobs: write.artifact': 3,
  'jobs: write.drain': 1,
  'jobs: write.duty': 1,
  'jobs: write.image_registry': 1,
  'jobs: write.profile': 2,
  'jobs: write.profile_rate': 2,
  'jobs: write.queue_switch': 1,
  'jobs: write.quota': 4,
  'jobs: write.run_state': 3,
  'jobs: write.upload': 2,
  'models: write.artifact': 1,
  'notifications: auth.person': 1,
  'oidc: auth.person': 1,
  'oidc: auth.session': 1,
  'projects: auth.person': 1,
  'queue: write.engine': 1,
  'queue: write.profile': 1,
  'quotas: auth.person': 1,
  'recipes: write.upload': 1,
  'rubrics: auth.person': 1,
  'sessions: auth.person': 5,
}

const tablesIn = (code: string): Set<string> =>
  new Set(code.match(/\b(?:write|auth)\.(?!ts\b)[a-z_]+\b/g))

const ofSlices = sources.flatMap(({ file, code }) => {
  const slice = /^command-api\/([^/]+)\/[^/]/.exec(file)?.[1]
  return slice === undefined ? [] : [...tablesIn(code)].map(table => ({ file, slice, table }))
})

test('every table that a slice names has an owner, and every listed table exists', t => {
  const named = new Set(
    sources
      .filter(({ file }) => file.startsWith('command-api/'))
      .flatMap(({ code }) => [...tablesIn(code)]),
  )
  t.deepEqual([...named].sort(), Object.keys(ownerOf).sort())
})

test('the SQL of a slice names no table of another slice, but for exceptions that only become fewer', t => {
  const foreign = ofSlices.filter(
    ({ slice, table }) => ![slice, 'everybody'].includes(ownerOf[table] ?? slice),
  )
  t.true(ofSlices.length > 50)
  const found = Object.groupBy(foreign, ({ slice, table }) => `${slice}: ${table}`)
  for (const [pair, uses = []] of Object.entries(found)) {
    const files = uses.map(({ file }) => file).join(', ')
    t.true(
      uses.length <= (exceptions[pair] ?? 0),
      `${pair} is named in ${files}; its owner is ${ownerOf[pair.split(': ')[1] ?? '']}`,
    )
  }
  const counts = Object.entries(found).map(([pair, uses = []]) => [pair, uses.length])
  t.deepEqual(
    exceptions,
    Object.fromEntries(counts),
    'lower the numbers of those that became fewer',
  )
})
