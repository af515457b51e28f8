import test, { type ExecutionContext } from 'ava'
import { harmless, harmlessInColour, toJson } from '../../../../clients/cli/terminal/harmless.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { type ExternalRun, ingest } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

const esc = '\u001b'
/** Sets the title and the clipboard, clears the screen, hides text, and shows it reversed. */
const attack = `${esc}]0;owned\u0007${esc}]52;c;b3duZWQ=\u0007${esc}[2J${esc}[8m\u009b31m\u202edne\u0008${esc}c`
const colours = new RegExp(`${esc}\\[[\\d;]*m`, 'g')
/** Controls that no line may hold; the terminal itself adds carriage returns. */
const unwanted = /[^\P{Cc}\t\r\n]|[\u202a-\u202e\u2066-\u2069]/u

async function hostileRun(t: ExecutionContext) {
  const forge = await startForge(t)
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const body = { project: 'demo', name: 'name', tags: ['tag'], notes: attack }
  const created = await forge.call<ExternalRun>('POST', '/api/runs', { body })
  t.is(created.status, 200, JSON.stringify(created.body))
  await ingest(forge, created.body, 'lifecycle', { event: 'running' })
  await ingest(forge, created.body, 'hparams', { params: { optimizer: `adam${attack}` } })
  await ingest(forge, created.body, 'metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  const chunks = [`${esc}[31mred${esc}[0m ${attack}text\ttab\n`]
  await ingest(forge, created.body, 'logs', { chunks })
  await ingest(forge, created.body, 'logs', { chunks: ['10 %\rfrom the second\n'], rank: 1 })
  await ingest(forge, created.body, 'lifecycle', { event: 'succeeded' })
  const { run_id, short_id } = created.body
  await until('its name is that of an earlier version', 10_000, async () => {
    const { rowCount } = await forge.pool.query(
      'update read.runs set name = $2, tags = $3 where run_id = $1',
      [run_id, `name${attack}`, [`tag${attack}`]],
    )
    return rowCount === 1
  })
  await until('the log is stored', 10_000, async () => {
    const { body: lines } = await forge.call<object[]>('GET', `/api/runs/${run_id}/logs`)
    return lines.length > 1
  })
  return { id: short_id, ...line }
}

test('no text of a server steers the terminal, and --json keeps every character', async t => {
  const { id, run } = await hostileRun(t)
  const terminal = { columns: 120, rows: 40 }
  const commands = [
    ['ps'],
    ['show', id],
    ['logs', id],
    ['metrics', id],
    ['ps', '--state', attack],
    ['logs', `demo-9${attack}`],
  ]
  for (const command of commands) {
    const { stdout } = await run(command, { terminal })
    t.notRegex(stdout.replaceAll(colours, ''), unwanted, command[0])
    t.false(stdout.includes(`${esc}[8m`), 'nothing is hidden')
    t.notRegex(stdout, /(?<!\\x1b\]0;)owned/, 'it is only shown as a part of a name')
  }
  const shown = await run(['logs', id], { terminal })
  t.true(shown.stdout.startsWith(`${esc}[31mred${esc}[0m dnetext\ttab`), JSON.stringify(shown))
  const plain = await run(['logs', id], { terminal, env: { NO_COLOR: '1' } })
  t.is(plain.stdout, 'red dnetext\ttab\r\n[1] from the second\r\n')
  const piped = await run(['logs', id])
  t.is(piped.stdout, 'red dnetext\ttab\n[1] from the second\n')
  t.is((await run(['logs', id, '--rank', '1'])).stdout, 'from the second\n')
  for (const name of ['--controls', '--raw'])
    t.true((await run(['logs', id, name])).stdout.includes(attack))

  const { stdout: json } = await run(['ps', '--json'])
  t.notRegex(json, unwanted)
  t.is(JSON.parse(json)[0].name, `name${attack}`)
})

test('watch shows an ended run until q, in its whole window, without its escapes', async t => {
  const { id, run } = await hostileRun(t)
  const rows = 40
  const left = await run(['watch', id], {
    terminal: {
      columns: 100,
      rows,
      keysAfter: text => (text.includes('succeeded; q leaves') ? 'q' : ''),
    },
  })
  t.is(left.code, 0)
  t.regex(left.stdout, /succeeded; q leaves/)
  t.notRegex(left.stdout.replaceAll(esc, ''), unwanted)
  t.notRegex(left.stdout, /(?<!\\x1b\]0;)owned/)
  t.regex(left.stdout, /succeeded after/)
  // Except the time spent pending, if that was a second or more.
  t.notRegex(left.stdout, /succeeded[\s\S]*pending(?! [\d.]+ s)/)
  const piped = await run(['watch', id])
  t.is(piped.code, 0)
  // The rest of the streams comes last.
  const states = [...piped.stdout.matchAll(/^ *[\d.]+ s {2}(\w+)/gm)].map(([, state]) => state)
  t.deepEqual(states, ['pending', 'running', 'succeeded', 'metrics'])
})

test('controls are removed, colours kept where wanted, and JSON stays the same value', t => {
  t.is(harmless(`a${attack}b\tc\nd`), 'adneb\tc\nd')
  t.is(harmlessInColour(`${esc}[8mx${esc}[1;8m${esc}[38;5;8my`), `x${esc}[38;5;8my`)
  t.is(harmlessInColour(`${esc}[1;31mx${esc}[0m${esc}[2Jy`), `${esc}[1;31mx${esc}[0my`)
  t.is(harmless('naïve 漢字 🎉 עברית'), 'naïve 漢字 🎉 עברית')
  const json = toJson({ [attack]: attack })
  t.notRegex(json, unwanted)
  t.deepEqual(JSON.parse(json), { [attack]: attack })
})
