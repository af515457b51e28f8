import test from 'ava'
import { everything, protectionsOf } from '../../command-api/artifacts/protection.ts'
import { retireRevision, revisionFailed } from '../../command-api/deployments/revisions/decide.ts'
import type { Artifact } from '../../schemas/artifacts/artifacts.ts'
import { decisionsAreDone } from '../servers/decisions-done.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { deploymentsOn } from './deployments-on.ts'
import { jobsWithCheckpoints } from './jobs-with-checkpoints.ts'

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

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
