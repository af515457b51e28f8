import { randomBytes } from 'node:crypto'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'ava'
import type { Pool, PoolClient } from 'pg'
import { registerArtifact, requestDeletion } from '../../command-api/artifacts/decide.ts'
import { artifactRemover } from '../../command-api/artifacts/remove-files.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { record } from '../../command-api/effects/outcome.ts'
import { artifactAt } from '../../events/artifacts.ts'
import { dumpReadModels } from '../servers/dump.ts'
import { type Forge, sharedForge, startForgeProcess } from '../servers/forge.ts'
import { mayStayIdle, untilLockWaits } from '../servers/lock-waits.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { createRun } from '../servers/runs.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { settled } from '../servers/settled.ts'
import { until } from '../servers/until.ts'
import { jobsWithCheckpoints } from './jobs-with-checkpoints.ts'
import { digestOf, storing, untilIs } from './storing.ts'

const roles = { SERVICE_ROLES: 'command-api,relay,projector,query-api' }
const shared = sharedForge(roles)

const typesOf = async (pool: Pool, artifact_id: string) => {
  const { rows } = await pool.query<{ type: string }>(
    'select type from write.event where stream = $1 order by stream_version',
    [`artifact-${artifact_id}`],
  )
  return rows.map(({ type }) => type)
}

const deletion = `
  with gone as (update write.artifact set deleted_at = now() where artifact_id = $1 returning artifact_id)
  update write.resource r set deleted_at = now() from gone where r.kind = 'artifact' and r.id = gone.artifact_id`

/** Waits until a statement with this text is blocked by a lock that the test holds. */
const untilBlocked = (pool: Pool, text: string) =>
  untilLockWaits(pool, `${text} waits`, ({ query }) => query.includes(text))

/** Runs `meanwhile` while a transaction of the test holds the locks of `statement`; no event is relayed until it ends. */
async function holding<T>(
  pool: Pool,
  [statement, values]: [string, unknown[]],
  meanwhile: () => Promise<T>,
  end: 'commit' | 'rollback' = 'commit',
): Promise<T> {
  const held: PoolClient = await pool.connect()
  try {
    await held.query('begin')
    await mayStayIdle(held)
    await held.query(statement, values)
    return await meanwhile()
  } finally {
    await held.query(end)
    held.release()
  }
}

test.serial(
  'a file removal interrupted by a kill is done later, once; a rebuild ends the same',
  async t => {
    t.timeout(patient(200_000))
    const forge = await startForgeProcess(t, roles)
    const run = await createRun(forge)
    const { store, register } = storing(forge, run)
    const bytes = randomBytes(3000)
    const { artifact_id, path } = await store(bytes, 'model', 1)
    const elsewhere = (await register({ path: 's3://b/k', step: 2 })).body.artifact_id
    const upload_id = path.split('/')[3]
    await holding(
      forge.pool,
      ['select from write.upload where upload_id = $1 for update', [upload_id]],
      async () => {
        t.is((await forge.call('DELETE', `/api/artifacts/${artifact_id}`)).status, 200)
        await untilBlocked(forge.pool, 'write.upload where upload_id = $1 for update')
        await forge.kill()
      },
      'rollback',
    )
    t.is((await typesOf(forge.pool, artifact_id)).at(-1), 'artifact.deletion_requested')
    await forge.start()
    await forge.pool.query(
      `update write.duty set leased_until = null, due_at = now() where reactor = 'remove-artifacts' and done_at is null`,
    )
    await untilIs(forge, artifact_id, 'deleted')
    t.deepEqual(await typesOf(forge.pool, artifact_id), [
      ...['artifact.registered', 'artifact.verified'],
      ...['artifact.deletion_requested', 'artifact.deleted'],
    ])
    const file = join(forge.dataDir, 'uploads', 'sha256', digestOf(bytes))
    await t.throwsAsync(access(file), { code: 'ENOENT' })

    await forge.call('DELETE', `/api/artifacts/${elsewhere}`)
    await untilIs(forge, elsewhere, 'deleted')
    await rebuiltTheSame(t, forge)
  },
)

async function rebuiltTheSame(
  t: { deepEqual(a: unknown, b: unknown): void; is(a: unknown, b: unknown): void },
  forge: Forge,
): Promise<void> {
  const isCompared = (table: string) => ['artifacts', 'runs', 'alerts'].includes(table)
  await settled(forge)
  const dump = await dumpReadModels(forge.pool, isCompared)
  t.is(dump.artifacts?.length, 2)
  t.is((await forge.call('POST', '/api/admin/projections/all/rebuild')).status, 200)
  type Projections = { rebuild: { state: string; error: string | null } }
  const state = await until('the rebuild is over', 60_000, async () => {
    const { body } = await forge.call<Projections>('GET', '/api/admin/projections')
    return body.rebuild.state !== 'running' && body.rebuild.state
  })
  t.is(state, 'succeeded')
  t.deepEqual(await dumpReadModels(forge.pool, isCompared), dump)
}

test.serial(
  'a removal whose process died before recording it is repeated and recorded once',
  async t => {
    const { pool } = await database(t)
    const now = new Date('2026-12-20T12:00:00Z')
    const { deps } = await routeParts(t, pool, () => now)
    const by = { actor: { type: 'system', id: 'test', via: 'test' }, requestId: 'r' } as const
    const [artifact_id, run_id, path] = ['art_1', 'run_1', 'forge://run_1/upl_1/f']
    await deps.artifacts.receive('upl_1', 0, Readable.from([Buffer.from('weights')]))
    const sealed = await deps.artifacts.seal('upl_1')
    if (sealed === null) throw new Error('nothing arrived')
    await deps.artifacts.keep(sealed)
    const { sha256 } = sealed
    await pool.query(
      `insert into write.upload (upload_id, owner, purpose, filename, content_type, size_bytes, sha256, created_at, used_at, completed_at)
     values ('upl_1', $1, 'artifact', 'f', 'a/b', 7, $2, $3, $3, $3)`,
      [run_id, sha256, now],
    )
    await pool.query(
      `insert into write.artifact (artifact_id, run_id, kind, path, step, format, upload_id, sha256, deleted_at)
     values ($1, $2, 'checkpoint', $3, 1, 'f', 'upl_1', $4, $5)`,
      [artifact_id, run_id, path, sha256, now],
    )
    const facts = {
      ...{ artifact_id, run_id, path, sha256, kind: 'checkpoint' as const, format: 'f' },
      ...{ step: 1, size_bytes: 7, metrics: {}, attempt: null },
    }
    const deletion = {
      artifact_id,
      run_id,
      path,
      sha256,
      upload_id: 'upl_1',
      reason: 'asked' as const,
    }
    await commit(deps, by, artifactAt(artifact_id), { decide: one => registerArtifact(one, facts) })
    await commit(deps, by, artifactAt(artifact_id), {
      decide: one => requestDeletion(one, deletion),
    })

    const payload = { artifact_id, run_id, path, upload_id: 'upl_1', sha256 }
    const duty = {
      duty_id: '0199e2c4-5b7a-7c11-8c2e-000000000001',
      payload,
      attempt: 1,
      due_at: now,
    }
    const perform = async () => {
      const outcome = await artifactRemover.perform(duty, deps, new AbortController().signal)
      return () => record(deps, by, { outcome, unless: async () => false })
    }
    const [died, first, second] = [await perform(), await perform(), await perform()]
    t.truthy(died)
    t.is(await deps.artifacts.sizeOf(sha256), null)
    await first()
    await second()
    t.deepEqual(await typesOf(pool, artifact_id), [
      ...['artifact.registered', 'artifact.deletion_requested', 'artifact.deleted'],
    ])
    const { rows } = await pool.query(
      `select data ->> 'bytes' as bytes from write.event where type = 'artifact.deleted'`,
    )
    t.deepEqual(rows, [{ bytes: 'removed' }])
  },
)

test.serial(
  'starting from an artifact during its deletion is refused, and so is registering its upload again',
  async t => {
    t.timeout(patient(60_000))
    const forge = await shared()
    const jobs = await jobsWithCheckpoints(forge)
    const { store, register } = storing(forge, await createRun(forge, 'racing'))
    const { artifact_id, path } = await store(randomBytes(100), 'model', 1)
    const upload_id = path.split('/')[3]
    const submitted = await holding(forge.pool, [deletion, [artifact_id]], async () => {
      const submitting = t.throwsAsync(jobs.submit('racing', { init_from: { artifact_id } }))
      await untilBlocked(forge.pool, 'insert into write.job_state')
      return { submitting }
    })
    t.regex(String((await submitted.submitting)?.message), /has just been deleted; choose another/)

    const registered = await holding(
      forge.pool,
      ['delete from write.upload where upload_id = $1', [upload_id]],
      async () => {
        const registering = register({ path, upload_id, step: 2 })
        await untilBlocked(forge.pool, 'for key share')
        return { registering }
      },
    )
    t.like(await registered.registering, { status: 409, body: { code: 'artifact.no_upload' } })
  },
)

test.serial(
  'an attempt does not continue from a checkpoint that is deleted during its scheduling',
  async t => {
    t.timeout(patient(60_000))
    const forge = await shared()
    const jobs = await jobsWithCheckpoints(forge)
    const job = await jobs.submit('resuming', {})
    const run = await jobs.start(job)
    const older = await run.checkpoint(1)
    const newest = await run.checkpoint(2)
    await jobs.pause(job.run_id)
    await forge.call('POST', `/api/jobs/${job.run_id}/resume`, { body: {} })
    const { starting } = await holding(forge.pool, [deletion, [newest.artifact_id]], async () => {
      const starting = jobs.start(job, 2)
      await untilBlocked(forge.pool, 'deleted_at is null for share')
      return { starting }
    })
    t.is((await starting).resume_from, older.path)
    const used = await forge.call('DELETE', `/api/artifacts/${older.artifact_id}`)
    t.is(used.status, 409)
    t.like(used.body, { code: 'artifact.referenced' })

    const second = await starting
    await second.checkpoint(3)
    await jobs.end(second, 2)
    t.is((await forge.call('DELETE', `/api/artifacts/${older.artifact_id}`)).status, 200)
    await untilIs(forge, older.artifact_id, 'deleted')
    const { body } = await forge.call('GET', `/api/runs/${job.run_id}/lineage`)
    t.deepEqual(body.resumed, [
      { attempt: 2, artifact_id: older.artifact_id, artifact_deleted: true },
    ])
  },
)
