import test from 'ava'
import { usersOf } from '../../command-api/runs/references.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
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

const run_id = 'run_1'

test('jobs, models and deployments use a run, each counted once until it is deleted', async t => {
  const { pool } = await database(t)
  const users = () => inTransaction(pool, tx => usersOf(tx, run_id))
  const tell = (...events: { type: string; data: object }[]) => keepUses(pool, events)
  await tell(jobAdmitted(run_id), registered('art_1', run_id), registered('art_2', run_id))
  t.is(await users(), 0, 'not by its own job')
  await tell(runCreated('run_2'), registered('art_3', 'run_2'), ...modelMade('other', 'art_3'))
  t.is(await users(), 0)
  await tell(jobAdmitted('run_3', { begins: 'art_1', retries: run_id }))
  t.is(await users(), 1)
  await tell(...modelMade('bard', 'art_1'), ...deployed('dep_1', 'art_2', 2))
  t.is(await users(), 3)
  await tell(told('run.deleted', { run_id: 'run_3' }), told('model.deleted', { model: 'bard' }))
  t.is(await users(), 1, 'the deployment alone')
  await tell(told('deployment.deleted', { deployment_id: 'dep_1' }))
  t.is(await users(), 0)
})
