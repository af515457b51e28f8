import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { diskJudge } from '../../executor/node/disk-limit.ts'
import { diskUse } from '../../executor/node/disk-use.ts'
import { finish, launch } from './attempts.ts'
import { openAt } from './bench.ts'

const GB = 1e9
const ample = { used: 0, volumes: [], free: 100 * GB, isTight: false }

async function runsDirectory(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-disk-limit-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  return join(folder, 'runs')
}

test('an attempt beyond its own limit ends, however much space is left', t => {
  const judge = diskJudge(10 * GB)
  t.is(judge({ ...ample, used: 10 * GB }, 0), null)
  t.is(
    judge({ ...ample, used: 12.34 * GB }, 1000),
    'It used 12.3 GB of disk space; its limit is 10 GB',
  )
  t.regex(judge({ ...ample, used: Number.POSITIVE_INFINITY }, 2000) ?? '', /closed to the server/)
})

test('on a nearly full disk the attempt that took much of the lost space ends, not a large quiet one', t => {
  const [filler, quiet, slow] = [diskJudge(null), diskJudge(null), diskJudge(null)]
  t.is(filler(ample, 0), null)
  t.is(quiet({ ...ample, used: 800 * GB }, 0), null)
  t.is(slow(ample, 0), null)
  const tight = { volumes: [], free: 0.5 * GB, isTight: true }
  t.regex(filler({ ...tight, used: 90 * GB }, 1000) ?? '', /has taken 90 GB/)
  t.is(quiet({ ...tight, used: 800 * GB }, 1000), null)
  t.is(slow({ ...tight, used: 9 * GB }, 1000), null, 'less than a quarter')
  t.regex(slow({ ...tight, used: 9 * GB }, 7000) ?? '', /has taken 9 GB/, 'nobody else ended')
  t.is(quiet({ ...tight, used: 800 * GB }, 7000), null)
})

test('an attempt ends for a volume beyond its size, and volumes on its disk count when that is nearly full', t => {
  const volume = { name: 'cache', used: 3 * GB, limit_bytes: 3 * GB, isHere: true }
  const judge = diskJudge(1 * GB)
  t.is(judge({ ...ample, volumes: [volume] }, 0), null, 'not counted for its own limit')
  t.is(
    judge({ ...ample, volumes: [{ ...volume, used: 3.2 * GB }] }, 1000),
    'The volume cache has 3.2 GB; its size is 3 GB',
  )
  const large = { ...volume, limit_bytes: 900 * GB }
  const tight = { ...ample, free: 0.5 * GB, isTight: true }
  const [filler, elsewhere] = [diskJudge(null), diskJudge(null)]
  for (const [one, isHere] of [
    [filler, true],
    [elsewhere, false],
  ] as const)
    t.is(one({ ...ample, volumes: [{ ...large, isHere }] }, 0), null)
  const grown = { ...large, used: 90 * GB }
  t.regex(filler({ ...tight, volumes: [grown] }, 1000) ?? '', /has taken 87 GB/)
  t.is(elsewhere({ ...tight, volumes: [{ ...grown, isHere: false }] }, 1000), null)
})

test('a limit of disk space ends an attempt and is recorded as the reason', async t => {
  const executor = await openAt(await runsDirectory(t))
  const write = (script: string) => launch({ disk_bytes: 20e6, command: ['sh', '-c', script] })
  const [over, hidden, within] = await Promise.all([
    finish(executor, write('dd if=/dev/zero of=large bs=1M count=40; exec sleep 600')),
    finish(
      executor,
      write('exec 3>gone; rm gone; dd if=/dev/zero bs=1M count=40 >&3; exec sleep 600'),
    ),
    finish(
      executor,
      write('truncate -s 10G sparse; dd if=/dev/zero of=a bs=1M count=10; ln a b; sleep 3'),
    ),
  ])
  for (const { exit, output } of [over, hidden]) {
    t.is(exit.signal, 'SIGKILL')
    t.regex(exit.disk_limit ?? '', /^It used [\d.]+ MB of disk space; its limit is 20 MB$/)
    t.false(exit.oom_killed)
    t.regex(output.stderr.toString(), /\[forge\] It used .*: it is ended/)
  }
  t.is(within.exit.exit_code, 0)
  t.is(within.exit.disk_limit, undefined)
})

test('each file counts once, and nothing on other file systems', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-disk-use-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  t.is(await diskUse([join(folder, 'missing')], []), 0)
  const executor = await openAt(await runsDirectory(t))
  const script = `mkdir -p ${folder}/in && cd ${folder}/in && dd if=/dev/zero of=a bs=1M count=3 && ln a b && ln -s /usr usr`
  await finish(executor, launch({ command: ['sh', '-c', script] }))
  const used = await diskUse([folder], [])
  t.true(used >= 3 * 1024 ** 2 && used < 3.1 * 1024 ** 2, String(used))
})
