import test from 'ava'
import { sharedForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'
import { scriptOfNewRun } from './scripts.ts'

type Line = { stream: string; text: string; rank: number | null; node: string | null }

const theForge = sharedForgeProcess()

const code = `
import logging, os, sys
handler = logging.StreamHandler()
import forge, forge.run
forge.run.CLOSE_WITHIN_S = 60
run = forge.init(monitor_hardware=False, log_output=True)
print("first")
for percent in range(100): print("%d%%" % percent, end="\\r")
print()
logging.getLogger("train").addHandler(handler)
logging.getLogger("train").warning("logged")
sys.stdout.flush()
child = os.fork()
if child == 0:
    print("of a child", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("\\u00e4\\U0001f600 " + "x" * 100_000)
print("printed", flush=True)
sys.stdin.readline()
print("not ended", end="")
raise ValueError("boom")
`

test('the output of a script becomes the log of its run, even while the server restarts', async t => {
  t.timeout(patient(200_000))
  const forge = await theForge()
  const { run, script } = await scriptOfNewRun(t, forge, code)
  const read = async (): Promise<Line[]> =>
    (await forge.call<Line[]>('GET', `/api/runs/${run.run_id}/logs?limit=500`)).body
  const linesWith = (text: string) =>
    until(`a line with ${text}`, 60_000, async () => {
      const lines = await read()
      return lines.some(line => line.text.includes(text)) && lines
    })
  await linesWith('printed')
  await forge.kill()
  await forge.start()
  script.say('go on')
  t.is((await script.ended).code, 1)
  await linesWith('ValueError: boom')
  // It travels with the last report, which may be a later one.
  const lines = await linesWith('not ended')

  const of = (stream: string) => lines.filter(line => line.stream === stream).map(line => line.text)
  const [first, percent, ...others] = of('stdout')
  t.is(first, 'first')
  t.is(percent, '99%')
  t.is(others.pop(), 'not ended')
  t.is(others.pop(), 'printed')
  t.is(others.join(''), `ä😀 ${'x'.repeat(100_000)}`)
  t.true(of('stderr').includes('logged'))
  t.true(of('stderr').includes('Traceback (most recent call last):'))
  t.true(lines.every(line => line.rank === 0 && line.node))
  // The terminal shows everything, including the child's output.
  t.true(script.out().endsWith(`${'x'.repeat(100_000)}\nprinted\nnot ended`))
  t.regex(script.out(), /of a child/)
  t.regex(script.err(), /logged.*ValueError: boom.*forge: all sent/s)
})
