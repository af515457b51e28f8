import { access, mkdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Cause } from '../../command-api/commit/asked.ts'
import { commit } from '../../command-api/commit/commit.ts'
import { type Outcome, record } from '../../command-api/effects/outcome.ts'
import { whoWaits } from '../../command-api/rules/volumes.ts'
import { createVolume, deleteVolume } from '../../command-api/volumes/decide.ts'
import { saveVolume } from '../../command-api/volumes/rows.ts'
import {
  cleanVolumes,
  measureVolumes,
  sweepVolumes,
  volumeRemover,
} from '../../command-api/volumes/upkeep.ts'
import { volumeAt } from '../../events/volumes.ts'
import { database } from '../servers/postgres.ts'
import { routeParts } from '../servers/serve-routes.ts'

const hourMs = 3_600_000
const named = { volume_id: 'vol_1', owner: 'ada', name: 'cache' }
const cause: Cause = { actor: { type: 'user', id: 'ada', via: 'password' }, requestId: 'r' }

async function scene(t: ExecutionContext, auto_cleanup_s: number | null) {
  const { pool } = await database(t)
  const begun = Date.parse('2026-11-20T12:00:00Z')
  let now = begun
  const { deps } = await routeParts(t, pool, () => new Date(now))
  const data = {
    ...{ ...named, size_gb: 1, backend: 'local' as const, read_only: false },
    ...{ auto_cleanup_s, directory: 'volume_first' },
  }
  await commit(deps, cause, volumeAt(named), {
    decide: before => createVolume(before, data),
    alongside: saveVolume,
  })
  const folder = join(deps.volumes.local, 'volume_first')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'file'), 'x'.repeat(10_000))
  const settle = async (outcome: Outcome) => {
    const by: Cause = { actor: { type: 'system', id: 'duty', via: 'duty' }, requestId: 'd' }
    await record(deps, by, { outcome, unless: async () => false })
  }
  return {
    ...{ deps, folder, pool, settle },
    at: (hours: number) => {
      now = begun + hours * hourMs
    },
    measure: async () => settle(await measureVolumes(deps, new AbortController().signal)),
    clean: async () => settle(await cleanVolumes(deps)),
    async row() {
      const { rows } = await pool.query(
        'select used_bytes::float8, directory, announced_at from write.volume',
      )
      return rows[0]
    },
    async events(type: string) {
      const { rows } = await pool.query<{ data: Record<string, unknown> }>(
        'select data from write.event where type = $1 order by position',
        [type],
      )
      return rows.map(row => row.data)
    },
  }
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

test('the files are measured, and a figure is recorded when it changed', async t => {
  const { measure, row, events, folder } = await scene(t, null)
  await measure()
  await measure()
  const [first, ...further] = await events('volume.measured')
  t.true(Number(first?.used_bytes) >= 10_000)
  t.deepEqual(further, [])
  await writeFile(join(folder, 'more'), 'y'.repeat(500_000))
  await measure()
  t.true((await row()).used_bytes >= 510_000)
})

test('a volume that no job uses is announced and then emptied, and one that is used is not', async t => {
  const { at, clean, row, events, pool, deps, folder, measure } = await scene(t, 8 * 3600)
  await measure()
  at(5)
  await clean()
  t.deepEqual(await events('volume.cleanup_announced'), [], 'not yet')
  at(6.5)
  await clean()
  await clean()
  const announced = await events('volume.cleanup_announced')
  t.deepEqual(
    announced.map(({ cleanup_at }) => cleanup_at),
    ['2026-11-20T20:00:00.000Z'],
  )
  await pool.query(`insert into write.volume_hold values ('vol_1', 'run_1', true)`)
  at(9)
  await clean()
  t.is((await row()).directory, 'volume_first', 'a run has it')
  await pool.query('delete from write.volume_hold')
  await pool.query(`update write.volume set last_used_at = '2026-11-20T18:00:00Z'`)
  await clean()
  t.is((await row()).directory, 'volume_first', 'a run had it until then')
  at(20)
  await clean()
  t.is((await row()).directory, 'volume_first', 'a notice comes first, after a standstill as well')
  at(21.1)
  await clean()
  await clean()
  const [cleaned, ...further] = await events('volume.cleaned')
  t.like(cleaned, { ...named, removed: 'volume_first' })
  t.deepEqual(further, [])
  t.like(await row(), { directory: cleaned?.directory, used_bytes: 0 })
  const payload = { backend: 'local', directory: 'volume_first' }
  const duty = { duty_id: 'd', payload, attempt: 1, due_at: new Date() }
  for (let times = 0; times < 2; times++)
    await volumeRemover.perform(duty, deps as never, new AbortController().signal)
  t.false(await isThere(folder))
})

test('a folder that belongs to no volume is deleted after a day', async t => {
  const { deps, at, folder } = await scene(t, null)
  const orphan = join(deps.volumes.local, 'volume_of_nobody')
  await mkdir(orphan)
  await writeFile(join(orphan, 'file'), 'x')
  const made = new Date('2026-11-20T12:00:00Z')
  for (const one of [orphan, folder]) await utimes(one, made, made)
  at(23)
  await sweepVolumes(deps)
  t.true(await isThere(orphan))
  at(25)
  await sweepVolumes(deps)
  t.deepEqual([await isThere(orphan), await isThere(folder)], [false, true])
})

test('a deleted volume leaves a duty that deletes its files, and its folder goes even if that duty is lost', async t => {
  const { deps, at, folder } = await scene(t, null)
  const { events } = await commit(deps, cause, volumeAt(named), {
    decide: before => deleteVolume(before, named),
    alongside: saveVolume,
  })
  const [duty] = events.flatMap(event => volumeRemover.dutiesOf(event as never))
  t.deepEqual(duty, { payload: { backend: 'local', directory: 'volume_first' } })
  await utimes(folder, new Date('2026-11-20T12:00:00Z'), new Date('2026-11-20T12:00:00Z'))
  at(25)
  await sweepVolumes(deps)
  t.false(await isThere(folder))
})

test('many runs read a volume or one writes, and nobody overtakes a run that waits for it', t => {
  const reads = { volume_id: 'v', read_only: true }
  const writes = { volume_id: 'v', read_only: false }
  const other = { volume_id: 'w', read_only: false }
  const runs = (...claims: (typeof reads)[]) =>
    claims.map((claim, nth) => ({ run_id: String(nth), claims: [claim] }))
  const waiting = (held: (typeof reads)[], ...claims: (typeof reads)[]) => [
    ...whoWaits(runs(...claims), held),
  ]
  t.deepEqual(waiting([], writes, reads), [], 'the reservation decides between these')
  t.deepEqual(waiting([reads], reads, writes, other), ['1'])
  t.deepEqual(waiting([reads], writes, reads, reads, other), ['0', '1', '2'])
  t.deepEqual(waiting([writes], reads, other, writes), ['0', '2'])
})
