import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import test, { type ExecutionContext } from 'ava'
import type { Command } from 'commander'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { firstRows } from '../../../../clients/cli/api/every-page.ts'
import { createProgram } from '../../../../clients/cli/program/program.ts'
import { worldOf } from '../../../../clients/cli/program/session.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { ownProcess } from '../../../servers/own-process.ts'
import { createRun } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

/** A list of this many numbers, in pages as the server sends them. */
async function numbers(t: ExecutionContext, count: number) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const [limit, offset] = ['limit', 'offset'].map(name => Number(searchParams.get(name)))
    const from = offset ?? 0
    const to = Math.min(count, from + Math.min(limit ?? 0, 500))
    const rows = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
    response.setHeader('content-type', 'application/json')
    if (to < count) response.setHeader('link', `</x?offset=${to}>; rel="next"`)
    response.end(JSON.stringify(rows))
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const host = `http://127.0.0.1:${port}`
  return createApi({ host, token: null, userAgent: 'test', onSlow: () => {} })
}

test('as many rows are read as were asked for, on however many pages, and whether there are more', async t => {
  const api = await numbers(t, 1036)
  for (const [limit, shown, isMore] of [
    ...([
      [1, 1, true],
      [500, 500, true],
      [501, 501, true],
      [1035, 1035, true],
    ] as const),
    ...([
      [1036, 1036, false],
      [5000, 1036, false],
    ] as const),
  ]) {
    const part = await firstRows<number>(api, '/x', { limit })
    t.deepEqual(part, { rows: Array.from({ length: shown }, (_, at) => at), isMore })
  }
  const rest = await firstRows<number>(api, '/x', { limit: 10, offset: 1030 })
  t.deepEqual(rest, { rows: [1030, 1031, 1032, 1033, 1034, 1035], isMore: false })
  t.deepEqual(await firstRows(await numbers(t, 0), '/x', { limit: 3 }), { rows: [], isMore: false })
})

test('a list that is not whole says so, and how to get the rest', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  for (const _ of [1, 2, 3]) await createRun(forge)
  await until('three runs are listed', 15_000, async () => {
    return JSON.parse((await run(['ps', '--json'])).stdout).length === 3
  })
  const said = 'The first 2 of more; --limit N shows more\n'
  for (const list of [
    'ps',
    'ps -q',
    'ps --json',
    'ps state:pending',
    'ps --sort -created_at',
    'audit list',
  ]) {
    const words = list.split(' ')
    const cut = await run([...words, '--limit', '2'])
    t.like(cut, { code: 0, stderr: said }, list)
    const whole = await run([...words, '--limit', '2000'])
    t.like(whole, { code: 0, stderr: '' }, list)
    t.is((await run([...words, '--limit', '0'])).code, 2, list)
  }
})

const everyCommand = (command: Command, names: readonly string[] = []): string[][] =>
  command.commands.length === 0
    ? [[...names]]
    : command.commands.flatMap(one => everyCommand(one, [...names, one.name()]))

test('common options work before every command as after it', async t => {
  const own = ownProcess({ stdin: '', env: {}, cwd: tmpdir(), onStdout: () => {} })
  const commands = everyCommand(createProgram(worldOf(own.process), () => {}))
  t.true(commands.length > 70)
  const { run } = await commandLine(t, {})
  for (const names of commands.filter(names => names[0] !== '__complete')) {
    const given = ['--json', '--context', 'x', '--host', 'http://127.0.0.1:9']
    const before = await run([...given, ...names, '--help'])
    t.like(before, { code: 0, stderr: '' }, names.join(' '))
    const [first = '', ...others] = names
    if (others.length > 0)
      t.like(await run([first, ...given, ...others, '--help']), { code: 0, stderr: '' }, first)
  }
  t.is((await run(['deploy', 'ls', '--help'])).stdout.match(/--context/g)?.length, 1)
  t.regex((await run(['--context', 'none', 'ps'])).stderr, /context.*none/i)
  t.deepEqual(await run(['--context', 'none', 'ps']), await run(['ps', '--context', 'none']))
  const unreachable = await run(['--json', '--host', 'http://127.0.0.1:9', 'deploy', 'ls'], {
    env: { FORGE_TOKEN: 'any' },
  })
  t.is(JSON.parse(unreachable.stderr).error.exit_code, 6)
  t.is((await run(['--json', 'context', 'list'])).stdout, '[]\n')
})
