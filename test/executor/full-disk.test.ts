import { join } from 'node:path'
import test from 'ava'
import { smallDisk } from '../servers/small-disk.ts'
import { exitOf, kill, launch, untilState } from './attempts.ts'
import { openAt } from './bench.ts'

// needs mount

const fill = [
  ['with a file', 'cat /dev/zero > large; exec sleep 600'],
  ['with a file that it has deleted', 'exec 3>gone; rm gone; cat /dev/zero >&3; exec sleep 600'],
] as const

for (const [how, script] of fill)
  test(`the run that fills the disk ${how} is ended, and others continue`, async t => {
    const disk = await smallDisk(t, 300)
    const executor = await openAt(join(disk.folder, 'runs'))
    const shell = (text: string) => launch({ command: ['sh', '-c', text] })
    const quiet = await executor.submit(
      shell('dd if=/dev/zero of=mine bs=1M count=60; exec sleep 600'),
    )
    await untilState(executor, quiet, 'running')
    const filler = await executor.submit(shell(`sleep 2; ${script}`))
    const exit = await exitOf(executor, filler)
    t.regex(
      exit.disk_limit ?? '',
      /^The disk is nearly full, and this run has taken [\d.]+ MB of it/,
    )
    t.is((await executor.observe(quiet)).state, 'running')
    await kill(executor, quiet)
  })
