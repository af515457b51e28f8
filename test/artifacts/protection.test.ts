import test, { type ExecutionContext } from 'ava'
import { everything, protectionsOf } from '../../command-api/artifacts/protection.ts'
import { serveKind } from '../../schemas/recipes.ts'
import {
  deployed,
  jobAdmitted,
  keepUses,
  modelMade,
  registered,
  runCreated,
  told,
} from '../command-api/uses.ts'
import { database } from '../servers/postgres.ts'

const [run_id, first, second] = ['run_1', 'art_1', 'art_2']

/** A run with two checkpoints. */
async function scene(t: ExecutionContext, started = runCreated(run_id)) {
  const { pool } = await database(t)
  await pool.query(
    `insert into write.artifact (artifact_id, run_id, kind, path, step, format)
     select 'art_' || step, $1, 'checkpoint', 's3://bucket/' || step, step, 'npz' from generate_series(1, 2) step`,
    [run_id],
  )
  await keepUses(pool, [started, registered(first, run_id), registered(second, run_id)])
  return {
    tell: (...events: { type: string; data: object }[]) => keepUses(pool, events),
    async protectors(caller: Parameters<typeof protectionsOf>[2] = everything) {
      const found = await protectionsOf(pool, [first, second], caller)
      return [first, second].map(id =>
        (found.get(id)?.references ?? []).map(({ kind, short_id }) => `${kind} ${short_id}`),
      )
    },
    total: async () =>
      (await protectionsOf(pool, [first], { username: 'eve', role: 'operator' })).get(first),
  }
}

test('a version of a model protects its artifact until the model is deleted, even if its run is', async t => {
  const { tell, protectors } = await scene(t)
  await tell(...modelMade('bard', first))
  t.deepEqual(await protectors(), [['model bard@1'], []])
  await tell(told('run.deleted', { run_id }))
  t.deepEqual(await protectors(), [['model bard@1'], []])
  await tell(told('model.deleted', { model: 'bard' }))
  t.deepEqual(await protectors(), [[], []])
})

test('a deployment protects what its revisions serve, and is named once, by its current name', async t => {
  const { tell, protectors } = await scene(t)
  const deployment_id = 'dep_1'
  await tell(...deployed(deployment_id, first, 2))
  t.deepEqual(await protectors(), [['deployment name-of-dep_1'], []])
  await tell(told('deployment.changed', { deployment_id, name: 'renamed', team: null }))
  t.deepEqual(await protectors(), [['deployment renamed'], []])
  await tell(told('deployment.revision_failed', { deployment_id, revision_id: 'dep_1-1' }))
  t.deepEqual(await protectors(), [['deployment renamed'], []])
  await tell(told('deployment.revision_retired', { deployment_id, revision_id: 'dep_1-2' }))
  t.deepEqual(await protectors(), [[], []])
  await tell(...deployed('dep_2', second))
  t.deepEqual(await protectors(), [[], ['deployment name-of-dep_2']])
  await tell(told('deployment.state_changed', { deployment_id: 'dep_2', state: 'deleting' }))
  t.deepEqual(await protectors(), [[], []])
})

test('a job protects the artifact that it began from until its run is deleted; the job of an engine does not', async t => {
  const { tell, protectors } = await scene(t)
  await tell(jobAdmitted('run_2', { kind: serveKind, begins: first }))
  t.deepEqual(await protectors(), [[], []])
  await tell(jobAdmitted('run_3', { begins: first }))
  t.deepEqual(await protectors(), [['init_from short-run_3'], []])
  await tell(told('job.failed', { run_id: 'run_3' }))
  t.deepEqual(await protectors(), [['init_from short-run_3'], []])
  await tell(told('run.deleted', { run_id: 'run_3' }))
  t.deepEqual(await protectors(), [[], []])
  await tell(told('run.restored', { run_id: 'run_3' }))
  t.deepEqual(await protectors(), [['init_from short-run_3'], []])
})

test('until it ends, a job protects its newest checkpoint and the checkpoint from which its attempt continues', async t => {
  const { tell, protectors } = await scene(t, jobAdmitted(run_id))
  t.deepEqual(await protectors(), [[], ['resume short-run_1']])
  await tell(
    told('job.scheduled', { run_id }),
    told('job.checkpoint_chosen', { run_id, artifact_id: first }),
  )
  t.deepEqual(await protectors(), [['resume short-run_1'], ['resume short-run_1']])
  await tell(told('job.scheduled', { run_id }))
  t.deepEqual(await protectors(), [[], ['resume short-run_1']], 'this attempt starts afresh')
  await tell(told('job.checkpoint_chosen', { run_id, artifact_id: first }))
  await tell(told('job.stopped', { run_id }))
  t.deepEqual(await protectors(), [[], []])
})

test('users that the caller may not read are counted, and not named', async t => {
  const { tell, total } = await scene(t)
  await tell(...modelMade('bard', first), jobAdmitted('run_2', { begins: first }))
  t.deepEqual(await total(), { references: [], references_total: 2 })
})
