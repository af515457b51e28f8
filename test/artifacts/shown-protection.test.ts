import test from 'ava'
import { everything, protectionsOf } from '../../command-api/artifacts/protection.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { createDeployment } from '../../command-api/deployments/decide.ts'
import { retireRevision, revisionFailed } from '../../command-api/deployments/revisions/decide.ts'
import { saveDeployment } from '../../command-api/deployments/rows.ts'
import { type Deployment, deploymentAt } from '../../events/deployments.ts'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { decisionsAreDone } from '../servers/decisions-done.ts'
import { eventStoreOn } from '../servers/event-store.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { jobsWithCheckpoints } from './jobs-with-checkpoints.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

const by = { actor: { type: 'system', id: 'test', via: 'timer' }, requestId: 'test' } as const

/** Deployments as requests make them, without a template that could serve these files. */
function deploymentsOn(forge: Forge) {
  const deps = { store: eventStoreOn(forge.pool), now: () => new Date() }
  const decide = (
    deployment_id: string,
    of: (deployment: Deployment) => ReturnType<typeof retireRevision>,
  ) =>
    commit(deps, by, deploymentAt(deployment_id), {
      decide: of,
      alongside: (tx, decided) => saveDeployment(tx, decided),
    })
  return {
    decide,
    serve: (name: string, artifact_id: string) =>
      decide(`dep_${name}`, deployment =>
        createDeployment(
          deployment,
          {
            ...{ deployment_id: `dep_${name}`, owner: 'admin', project: 'shown', name, team: null },
            ...{ min_replicas: 0, max_replicas: 1, max_body_bytes: 1024, timeout_s: 600 },
            max_concurrency: 10,
          },
          {
            revision_id: `rev_${name}`,
            auto_promote: false,
            source: {
              ...{ kind: 'artifact', artifact_id, run_id: null, model: null, hub_ref: null },
              ...{ digest: null, url: null, header_name: null },
            },
            serving: {
              ...{ template: null, template_version: null, template_digest: null, framework: null },
              ...{ engine: 'external', engine_version: null, image: null, params: {}, args: [] },
              ...{ tensor_parallel: 1, served_names: ['default'], dtype: null, quantization: null },
              ...{ profile: null, chat_template: null, smoke: 'chat' },
            },
          },
        ),
      ),
  }
}

test('an artifact is shown with exactly what keeps it from being deleted', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const jobs = await jobsWithCheckpoints(forge)
  const job = await jobs.submit('shown', {})
  const run = await jobs.start(job)
  const ids: string[] = []
  for (const step of [1, 2, 3, 4, 5, 6]) {
    const { body } = await run.register({ path: `s3://b/${step}`, step })
    ids.push(body.artifact_id)
  }
  const [begun = '', versioned = '', served = '', failed = '', retired = ''] = ids
  const next = await jobs.submit('shown', { init_from: { artifact_id: begun } })
  await forge.call('POST', '/api/models', { body: { name: 'shown', project: 'shown' } })
  const version = await forge.call('POST', '/api/models/shown/versions', {
    body: { artifact_id: versioned },
  })
  t.is(version.status, 200)
  const { serve, decide } = deploymentsOn(forge)
  for (const [name, id] of Object.entries({ served, failed, retired })) await serve(name, id)

  const protectedBy = async () => {
    await until('everything is projected', 20_000, () => decisionsAreDone(forge.pool))
    const refusing = await protectionsOf(forge.pool, ids, everything)
    const shown = await Promise.all(
      ids.map(async id => (await forge.call<Artifact>('GET', `/api/artifacts/${id}`)).body),
    )
    const inWords = ids.map(id =>
      (refusing.get(id)?.references ?? []).map(({ kind, run_id, short_id }) =>
        kind === 'model' || kind === 'deployment' ? `${kind} ${short_id}` : `${kind} ${run_id}`,
      ),
    )
    t.deepEqual(
      shown.map(one => one.protected_by.map(({ type, id }) => `${type} ${id}`)),
      inWords,
    )
    return inWords.map(users => users.join())
  }
  const others = [`init_from ${next.run_id}`, 'model shown@1', 'deployment served']
  const newest = `resume ${job.run_id}`
  t.deepEqual(await protectedBy(), [...others, 'deployment failed', 'deployment retired', newest])
  const reason = 'test'
  await decide('dep_failed', one => revisionFailed(one, 'rev_failed', { reason, checks: [] }))
  await decide('dep_retired', one => retireRevision(one, 'rev_retired', reason))
  t.deepEqual(await protectedBy(), [...others, '', '', newest])
  await jobs.end(run)
  await jobs.settled(job.run_id)
  t.deepEqual(await protectedBy(), [...others, '', '', ''])
})
