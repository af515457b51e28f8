import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { appendFile, mkdtemp, open, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { attemptPaths } from '../../executor/attempts/attempt-directory.ts'
import { readOutput } from '../../executor/attempts/output.ts'
import { limitOutput } from '../../executor/attempts/output-limit.ts'
import { until } from '../servers/until.ts'

const hourMs = 3_600_000
const bytesPerHour = 64 * 1024

async function attempt(t: ExecutionContext) {
  const { directory, rank } = attemptPaths(await mkdtemp(join(tmpdir(), 'forge-output-')))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const paths = rank(0)
  const clock = { now: 5 * hourMs }
  const failures: unknown[] = []
  const end = await limitOutput(paths, {
    bytesPerHour,
    now: () => clock.now,
    lookEveryMs: 10,
    failed: error => failures.push(error),
  })
  t.teardown(end)
  const size = async (file: string) => (await stat(file)).size
  /** All that the server would put on the log, read in pieces. */
  const shipped = async () => {
    let text = ''
    for (;;) {
      const pieces = await readOutput([paths], [{ stdout: text.length, stderr: 0 }], 10_000)
      const piece = pieces.find(({ stream }) => stream === 'stdout')
      if (!piece) return text
      text += piece.bytes.toString('latin1')
    }
  }
  return { directory, paths, clock, end, size, shipped, failures }
}

/** The whole file may be longer than any string. */
async function startOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesPerHour), 0, bytesPerHour, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

test('a command that prints endlessly does not fill the disk, and continues', async t => {
  const { paths, size, shipped } = await attempt(t)
  const fd = openSync(paths.stdout, 'a', 0o600)
  const command = spawn('yes', ['a line of output'], { stdio: ['ignore', fd, 'ignore'] })
  closeSync(fd)
  t.teardown(() => command.kill('SIGKILL'))
  await until('the marker is written', 20_000, async () =>
    (await startOf(paths.stdout)).includes('[forge] more than'),
  )
  t.is(command.exitCode, null)
  t.is((await shipped()).length, bytesPerHour, 'nothing beyond is read, though it is printed')
  command.kill('SIGKILL')
  await until('the rest is cut off', 20_000, async () => (await size(paths.stdout)) <= bytesPerHour)
  t.regex((await shipped()).slice(-120), /not kept until 1970-01-01T06:00:00.000Z\n$/)
})

test('the next hour has its own limit, starting where the last one was cut', async t => {
  const { paths, clock, size, shipped } = await attempt(t)
  await writeFile(paths.stdout, 'x'.repeat(bytesPerHour + 5000))
  await until('it is cut', 20_000, async () => (await size(paths.stdout)) === bytesPerHour)
  const first = await shipped()
  clock.now += hourMs
  await until('the reach grows', 20_000, async () =>
    (await readFile(paths.reach, 'utf8')).includes(String(2 * bytesPerHour)),
  )
  await appendFile(paths.stdout, 'a new hour\n')
  t.is(await shipped(), `${first}a new hour\n`)
})

test('output within the limit stays unchanged, and the end cuts off the rest', async t => {
  const { paths, end, size } = await attempt(t)
  await writeFile(paths.stdout, 'short\n')
  await end()
  t.is(await readFile(paths.stdout, 'utf8'), 'short\n')
  await writeFile(paths.stderr, 'x'.repeat(3 * bytesPerHour))
  await end()
  t.is(await size(paths.stderr), bytesPerHour)
})

test('a link in place of an output file is not followed', async t => {
  const { directory, paths, failures } = await attempt(t)
  const other = join(directory, 'other')
  await writeFile(other, 'x'.repeat(2 * bytesPerHour))
  await symlink(other, paths.stdout)
  await until('it was refused', 20_000, () => failures.length > 0)
  t.is((await stat(other)).size, 2 * bytesPerHour)
})
