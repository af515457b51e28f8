import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { readContexts } from '../../../../clients/cli/login/contexts.ts'
import { inTurn } from '../../../../clients/cli/login/in-turn.ts'

async function fileOf(t: ExecutionContext): Promise<{ path: string; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-turn-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return { path: join(folder, 'contexts.json'), folder }
}

const longAgo = () => new Date(Date.now() - 60_000)

/** Makes a held lock as old as that of a command that was killed. */
async function abandon(path: string): Promise<void> {
  const lock = `${path}.lock`
  const names = ['.', ...(await readdir(lock).catch(() => []))]
  const aged = names.map(name => utimes(join(lock, name), longAgo(), longAgo()))
  await Promise.allSettled(aged)
}

test('an abandoned lock is taken over by one command only, and a late command opens no lock of another', async t => {
  const { path, folder } = await fileOf(t)
  let working = 0
  let most = 0
  let turns = 0
  const work = async () => {
    most = Math.max(most, ++working)
    await setTimeout(Math.random() * 40)
    working--
    turns++
    if (turns % 3) return
    await abandon(path)
    // Long enough for others to find it.
    await setTimeout(Math.random() * 80)
  }
  const contender = async () => {
    for (let turn = 0; turn < 12; turn++) {
      await inTurn(path, work)
      await setTimeout(Math.random() * 10)
    }
  }
  await Promise.all(Array.from({ length: 8 }, contender))
  t.is(turns, 8 * 12)
  t.is(most, 1)
  t.deepEqual(await readdir(folder), [], 'nothing is left over')
})

test('a fresh lock is respected, and work that fails gives its turn back', async t => {
  const { path } = await fileOf(t)
  const order: string[] = []
  await t.throwsAsync(
    inTurn(path, async () => {
      throw new Error('no')
    }),
    { message: 'no' },
  )
  const begun = Promise.withResolvers<void>()
  const first = inTurn(path, async () => {
    order.push('first begins')
    begun.resolve()
    await setTimeout(150)
    order.push('first ends')
  })
  await begun.promise
  await inTurn(path, async () => void order.push('second'))
  await first
  t.deepEqual(order, ['first begins', 'first ends', 'second'])
})

test('concurrent changes of contexts are all kept', async t => {
  const { path } = await fileOf(t)
  await mkdir(`${path}.lock`)
  await writeFile(join(`${path}.lock`, 'of-a-killed-command'), '')
  await abandon(path)
  const script = join(import.meta.dirname, 'change-contexts.ts')
  const names = ['ada', 'bob', 'eve', 'joe', 'kim', 'lea']
  const ended = await Promise.all(
    names.map(async name => {
      const child = spawn(process.execPath, [script, path, name, '10'], { stdio: 'inherit' })
      return (await once(child, 'exit'))[0]
    }),
  )
  t.deepEqual(ended, [0, 0, 0, 0, 0, 0])
  const { contexts } = await readContexts(path)
  t.deepEqual(
    Object.keys(contexts).sort(),
    names.flatMap(name => [0, 2, 4, 6, 8].map(n => `${name}-${n}`)),
  )
})
