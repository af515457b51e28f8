import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { untilSettled } from '../servers/until.ts'

/** Runs a process that logs so many lines to this file. */
async function logTo(t: ExecutionContext, file: string, lines: number) {
  const output = openSync(file, 'a')
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'logging-process.ts'), String(lines)],
    { stdio: ['pipe', output, 'pipe'] },
  )
  closeSync(output)
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', piece => {
    said += piece
    if (said.includes('logged')) child.stdin?.end()
  })
  const [code] = await untilSettled('the process has ended', 20_000, once(child, 'close'))
  return { code, said }
}

test('a process whose log cannot be written keeps working, and ends without waiting for room', async t => {
  const { code, said } = await logTo(t, '/dev/full', 20_000)
  t.is(code, 7, said)
  t.is(said, 'logged\nstill here\n')
})

test('every line is written whole and in order, the last ones at the exit', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'forge-log-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'log')
  const { code } = await logTo(t, file, 5_000)
  t.is(code, 7)
  const lines = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.deepEqual(
    lines.slice(0, -1).map(({ line }) => line),
    Array.from({ length: 5_000 }, (_, index) => index + 1),
  )
  t.is(lines.at(-1)?.msg, 'the last line')
})
