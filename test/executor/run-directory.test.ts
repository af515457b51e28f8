import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { launchHere, pathHere } from '../../executor/attempts/paths-here.ts'
import { liesIn, runDirectory } from '../../executor/attempts/run-directory.ts'
import { launch } from './attempts.ts'

async function runs(t: ExecutionContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'forge-runs-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'run_a/1/work'), { recursive: true })
  return directory
}

test("a path is inside a run's directory literally, through links, or if it cannot be resolved", async t => {
  const directory = await runs(t)
  const run = join(directory, 'run_a')
  await writeFile(join(run, '1/work/model'), '')
  await symlink(join(run, '1/work/model'), join(directory, 'elsewhere'))
  await symlink(directory, join(directory, 'other-name'))
  for (const held of [
    join(run, '1/work/model'),
    join(run, '1/work/not-there'),
    `file://${run}/1/work/model`,
    join(directory, 'elsewhere'),
    join(directory, 'other-name/run_a/1/work/model'),
    `${directory}/run_b/../run_a/1`,
    run,
    'checkpoints/1',
    '../1/x',
    'file://host/%',
  ])
    t.true(await liesIn(run, held), held)
  for (const free of [`${run}_2/x`, directory, '/mnt/run_a/1', 's3://bucket/run_a/1'])
    t.false(await liesIn(run, free), free)
  t.true(await liesIn(join(directory, 'other-name/run_a'), join(run, '1/work/model')))
})

test('no link and no name that leads elsewhere counts as the directory of a run', async t => {
  const directory = await runs(t)
  t.is(await runDirectory(directory, 'run_a'), join(directory, 'run_a'))
  for (const none of ['run_b', '..', '.', '', 'run_a/1', '.old-x', 'a'.repeat(101)])
    t.is(await runDirectory(directory, none), null, none)
  await symlink(join(directory, 'run_a'), join(directory, 'run_link'))
  await t.throwsAsync(runDirectory(directory, 'run_link'), { message: /is not a directory/ })
})

test('a path of the original names the file of the copy, and nothing outside the same run', async t => {
  const directory = join(await runs(t), 'runs')
  await mkdir(join(directory, 'run_a/1/work'), { recursive: true })
  await writeFile(join(directory, 'run_a/1/work/model'), '')
  await writeFile(join(directory, 'run_a/1/launch.json'), '')
  const here = join(directory, 'run_a/1/work/model')
  for (const original of ['/old/runs/run_a/1/work/model', 'file:///old/runs/run_a/1/work/model'])
    t.is(pathHere(directory, 'run_a', original), here, original)
  for (const kept of [
    here,
    'work/model',
    's3://bucket/runs/run_a/1/work/model',
    '/old/runs/run_a/1/work/not-there',
    '/old/runs/run_a/1/launch.json',
    '/old/runs/run_a/1/work/../launch.json',
    '/old/runs/run_a/1/work/../../../run_b/1/work/model',
    '/old/runs/run_b/1/work/model',
  ])
    t.is(pathHere(directory, 'run_a', kept), kept, kept)
  const given = launch({
    run_id: 'run_b',
    reads: [{ run_id: 'run_a', path: '/old/runs/run_a/1/work/model' }],
    env: { FORGE_INIT_FROM: '/old/runs/run_a/1/work/model', OTHER: '/old/runs/run_a/1/work/model' },
  })
  t.like(launchHere(directory, given), {
    reads: [{ run_id: 'run_a', path: here }],
    env: { FORGE_INIT_FROM: here, OTHER: '/old/runs/run_a/1/work/model' },
  })
})
