import { readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { deleteUnused } from '../../command-api/uploads/delete-unused.ts'
import { contentFile } from '../../platform/files/content.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'
import { sha256 } from './sending.ts'

const hour = 3_600_000

async function scene(t: ExecutionContext, env: Record<string, string> = {}) {
  const { pool } = await database(t)
  let now = Date.parse('2026-11-22T12:00:00Z')
  const { deps } = await routeParts(t, pool, () => new Date(now), env)
  const { uploads } = deps
  const insert = (upload_id: string, completed: string | null, purpose = 'package') =>
    pool.query(
      `insert into write.upload (upload_id, owner, purpose, filename, content_type, size_bytes, sha256, created_at,
                                 used_at, completed_at)
       values ($1, 'ada', $5, 'p', 'a/b', 4, $2, $3, $3, $4)`,
      [upload_id, completed, deps.now(), completed && deps.now(), purpose],
    )
  return {
    pool,
    deps,
    folder: uploads.folder,
    later(hours: number) {
      now += hours * hour
    },
    sweep: () => deleteUnused(deps),
    /** An incoming upload. */
    async pending(upload_id: string) {
      await uploads.receive(upload_id, 0, Readable.from([Buffer.from('part')]))
      await insert(upload_id, null)
    },
    async registered(upload_id: string, text: string, purpose = 'package'): Promise<string> {
      const digest = sha256(Buffer.from(text))
      await uploads.receive(upload_id, 0, Readable.from([Buffer.from(text)]))
      const sealed = await uploads.seal(upload_id)
      if (sealed) await uploads.keep(sealed)
      await uploads.removePart(upload_id)
      await insert(upload_id, digest, purpose)
      return digest
    },
    /** A job submitted with it now, and ended now unless stated otherwise. */
    async job(upload_id: string, { ended }: { ended: boolean }) {
      await pool.query(
        `insert into write.use (used_kind, used_id, user_kind, user_id, used_as, since, until)
         values ('upload', $1, 'run', 'run_' || $1, 'package', $2, $3)`,
        [upload_id, deps.now(), ended ? deps.now() : null],
      )
      await pool.query('update write.upload set used_at = $2 where upload_id = $1', [
        upload_id,
        deps.now(),
      ])
    },
    async left() {
      const { rows } = await pool.query('select upload_id from write.upload order by upload_id')
      return rows.map(row => row.upload_id)
    },
    isHere: (digest: string) =>
      stat(contentFile(uploads.folder, digest)).then(
        () => true,
        () => false,
      ),
  }
}

test('an upload not registered within 24 hours is deleted, with its bytes', async t => {
  const { later, sweep, pending, left, deps } = await scene(t)
  await pending('upl_A')
  later(23)
  await pending('upl_B')
  await sweep()
  t.deepEqual(await left(), ['upl_A', 'upl_B'])
  later(2)
  await sweep()
  t.deepEqual(await left(), ['upl_B'])
  t.is(await deps.uploads.received('upl_A'), 0)
  t.is(await deps.uploads.received('upl_B'), 4)
})

test('a registered upload is deleted a day later unless a job names it, and then with the files of its runs', async t => {
  const { later, sweep, registered, job, left, isHere, pool } = await scene(t)
  const unused = await registered('upl_A', 'unused')
  const ended = await registered('upl_B', 'ended')
  const waiting = await registered('upl_C', 'waiting')
  await job('upl_B', { ended: true })
  await job('upl_C', { ended: false })
  later(25)
  await sweep()
  t.deepEqual(await left(), ['upl_B', 'upl_C'])
  t.deepEqual(
    [await isHere(unused), await isHere(ended), await isHere(waiting)],
    [false, true, true],
  )
  later(7 * 24)
  await sweep()
  t.deepEqual(await left(), ['upl_C'])
  t.deepEqual([await isHere(ended), await isHere(waiting)], [false, true])
  await pool.query('update write.use set until = since')
  await sweep()
  t.deepEqual(await left(), [])
  t.false(await isHere(waiting))
})

test('content stays while anybody has it registered, and the remains of a crash are deleted', async t => {
  const { later, sweep, registered, job, left, isHere, folder, deps } = await scene(t)
  const digest = await registered('upl_A', 'shared')
  later(20)
  await registered('upl_B', 'shared')
  await job('upl_B', { ended: false })
  later(5)
  const debris = join(folder, 'sealed-by-a-crash')
  await writeFile(debris, 'x')
  const orphan = sha256(Buffer.from('orphan'))
  await writeFile(contentFile(folder, orphan), 'orphan')
  await writeFile(join(folder, 'upl_GONE.part'), 'x')
  await sweep()
  t.deepEqual(await left(), ['upl_B'])
  t.is(await readFile(contentFile(folder, digest), 'utf8'), 'shared')
  t.false(await isHere(orphan))
  t.is(await deps.uploads.received('upl_GONE'), 0)
  const long = new Date(deps.now().getTime() - 2 * hour)
  await writeFile(debris, 'x')
  await utimes(debris, long, long)
  await sweep()
  await t.throwsAsync(stat(debris), { code: 'ENOENT' })
})

test('if files of runs are kept forever, so are the packages of jobs', async t => {
  const { later, sweep, registered, job, left } = await scene(t, { SERVICE_RUN_DIR_DAYS: '0' })
  await registered('upl_A', 'unused')
  await registered('upl_B', 'used')
  await job('upl_B', { ended: true })
  later(24 * 400)
  await sweep()
  t.deepEqual(await left(), ['upl_B'])
})

test('an upload stays while a thing of any kind uses it, and is deleted after that use has ended', async t => {
  const { later, sweep, registered, left, pool, deps } = await scene(t)
  await registered('upl_A', 'unused', 'dataset')
  await registered('upl_B', 'used', 'dataset')
  await pool.query(
    `insert into write.use (used_kind, used_id, user_kind, user_id, used_as, since)
     values ('upload', 'upl_B', 'dataset', 'team/corpus@1', 'content', $1)`,
    [deps.now()],
  )
  later(25)
  await sweep()
  t.deepEqual(await left(), ['upl_B'])
  later(24 * 400)
  await sweep()
  t.deepEqual(await left(), ['upl_B'])
  await pool.query('update write.use set until = $1', [deps.now()])
  await sweep()
  t.deepEqual(await left(), [])
  t.is((await pool.query('select from write.use')).rowCount, 0)
})
