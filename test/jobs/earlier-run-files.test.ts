import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import type { Reactor } from '../../command-api/effects/reactor.ts'
import { earlierRunFilesReactor } from '../../command-api/jobs/earlier-run-files.ts'
import { migrate } from '../../platform/postgres/migrate.ts'
import { dutyRunners } from '../command-api/login-duties.ts'
import { until } from '../servers/until.ts'

const folder = fileURLToPath(new URL('../../command-api/migrations', import.meta.url))
const endedAt = new Date('2026-11-19T12:00:00Z')
const dueAt = new Date('2026-11-26T12:00:00Z')

/** A database from before the upgrade, with these runs of ended jobs, and others that need nothing. */
async function upgradeStage(t: ExecutionContext, ended: readonly string[]) {
  const { pool, url, run } = await dutyRunners(t)
  await pool.query(
    `insert into write.run_state (run_id, owner, project, source, ended_at)
     select id, 'ada', 'ada', 'job', $2::timestamptz from unnest($1::text[]) id
     union all values ('run_open', 'ada', 'ada', 'job', null), ('run_external', 'ada', 'ada', 'external', $2)`,
    [ended, endedAt],
  )
  await pool.query(
    `insert into write.job_state (run_id, short_id, owner, project, state, priority, profile, executor, series, gpus, admitted_at, env)
     select run_id, run_id, owner, project, 'failed', 0, 'local', 'local', 'local', 1, now(), '{}'
       from write.run_state where source = 'job'`,
  )
  const open = async () =>
    (
      await pool.query('select 1 from write.duty where done_at is null and reactor <> $1', [
        'run-files',
      ])
    ).rowCount
  return {
    async upgrade() {
      await pool.query('delete from write.migration where version = 70')
      await migrate(url, [{ schema: 'write', folder }])
    },
    open,
    async perform(days: number) {
      const earlier = earlierRunFilesReactor(days, 2)
      const one: Reactor<null> = {
        ...earlier,
        perform: (duty, _, signal) => earlier.perform(duty, { pool }, signal),
      }
      const { runner } = run([one], { now: () => new Date() })
      await until('all batches are done', 10_000, async () => (await open()) === 0)
      await runner.stop()
    },
    async duties() {
      const { rows } = await pool.query(
        `select payload->>'run_id' as run_id, due_at from write.duty where reactor = 'run-files' order by 1`,
      )
      return rows
    },
  }
}

test('jobs that ended before the upgrade get the duty to delete their files, once', async t => {
  const ended = ['run_1', 'run_2', 'run_3', 'run_4', 'run_5']
  const { upgrade, perform, duties } = await upgradeStage(t, ended)
  const expected = ended.map(run_id => ({ run_id, due_at: dueAt }))
  await upgrade()
  await perform(7)
  t.deepEqual(await duties(), expected)
  await upgrade()
  await perform(7)
  t.deepEqual(await duties(), expected)
})

test('if files are kept forever, files of earlier runs are kept too', async t => {
  const { upgrade, perform, duties } = await upgradeStage(t, ['run_1'])
  await upgrade()
  await perform(0)
  t.deepEqual(await duties(), [])
})

test('an installation without ended jobs has nothing to do', async t => {
  const { upgrade, open } = await upgradeStage(t, [])
  await upgrade()
  t.is(await open(), 0)
})
