import test, { type ExecutionContext } from 'ava'
import { type CommandLine, commandLine } from '../../../servers/command-line.ts'
import { type Forge, sharedForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'
import { shell } from '../../../servers/shell.ts'
import { until, untilSettled } from '../../../servers/until.ts'

const theForge = sharedForge()

async function signedIn(t: ExecutionContext): Promise<CommandLine & { forge: Forge }> {
  t.timeout(patient(240_000))
  const forge = await theForge()
  return { forge, ...(await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })) }
}

const runIdOf = (stderr: string) => /run_\w+/.exec(stderr)?.[0] ?? ''

const endOf = async (forge: Forge, runId: string) =>
  (await forge.call<{ state: string; exit_code: number | null }>('GET', `/api/runs/${runId}`)).body

/** The log as text, once it ends like this. */
const logOnceItEnds = ({ run }: CommandLine, runId: string, end: string) =>
  until(`a log that ends with ${end.trim()}`, 30_000, async () => {
    const { stdout } = await run(['logs', runId])
    return stdout.endsWith(end) && stdout
  })

test('a burst is kept whole and in order', async t => {
  const line = await signedIn(t)
  const ended = await shell(line, `forge run -p demo -- sh -c 'seq 1 300000; exit 3' > /dev/null`)
  t.is(ended.code, 3, ended.stderr)
  t.notRegex(ended.stderr, /not stored|kept in/)
  const log = await logOnceItEnds(line, runIdOf(ended.stderr), '\n300000\n')
  const lines = log.trimEnd().split('\n')
  t.is(lines.length, 300_000)
  t.true(lines.every((text, at) => text === String(at + 1)))
})

test('a burst larger than the spool slows the command down, and loses nothing', async t => {
  const line = await signedIn(t)
  const code = 'print("\\n".join("%d %s" % (at, "x" * 2000) for at in range(20000)))'
  const ended = await shell(
    line,
    `FORGE_SPOOL_MB=1 forge run -p demo -- python3 -c '${code}' > /dev/null`,
  )
  t.is(ended.code, 0, ended.stderr)
  const log = await logOnceItEnds(line, runIdOf(ended.stderr), `\n19999 ${'x'.repeat(2000)}\n`)
  t.is(
    log.length,
    log
      .trimEnd()
      .split('\n')
      .reduce((sum, text) => sum + text.length + 1, 0),
  )
  t.deepEqual(
    log
      .trimEnd()
      .split('\n')
      .map(text => Number(text.split(' ')[0])),
    Array.from({ length: 20_000 }, (_, at) => at),
  )
})

test('a reader that closes the pipe ends the printing, not the command nor its collection', async t => {
  const line = await signedIn(t)
  for (const pipe of ['|', '2>&1 |']) {
    const { stdout } = await shell(
      line,
      `(forge run -p demo -- sh -c 'seq 1 100000; echo more >&2; exit 5'; echo "code $?" > end) 2> said ${pipe} head -1; cat end`,
    )
    t.is(stdout.split('\n').at(-2), 'code 5')
  }
  const { stderr } = await shell(line, 'cat said >&2')
  const { stderr: first } = await shell(
    line,
    `forge run -p demo -- sh -c 'seq 1 100000; exit 5' | true`,
  )
  t.regex(first || stderr, /· failed · 0 points · exit code 5/)
  const runId = runIdOf(first)
  const log = await logOnceItEnds(line, runId, '\n100000\n')
  t.is(log.split('\n').length, 100_001)
  t.like(await endOf(line.forge, runId), { state: 'failed', exit_code: 5 })
})

test('a full disk behind the output leaves the run whole, and is reported', async t => {
  const line = await signedIn(t)
  const ended = await shell(line, "forge run -p demo -- sh -c 'seq 1 1000' > /dev/full")
  t.is(ended.code, 74)
  t.regex(ended.stderr, /· succeeded · .*\nerror: The output is not whole: ENOSPC[^\n]*\n$/)
  await logOnceItEnds(line, runIdOf(ended.stderr), '\n1000\n')
})

test('a helper left in the background does not hold up the end, which has all of the output', async t => {
  const line = await signedIn(t)
  const ended = await shell(
    line,
    `forge run -p demo -- sh -c '(while :; do echo tick; sleep 0.02; done & echo $! > helper); seq 1 20000; echo last; exit 5' > out; echo "code $?"; kill $(cat helper) 2> /dev/null; cat out`,
  )
  const [code, ...printed] = withoutTicks(ended.stdout)
  t.is(code, 'code 5', ended.stderr)
  t.deepEqual(printed, counted)
  const runId = runIdOf(ended.stderr)
  await until(
    'the run has failed',
    15_000,
    async () => (await endOf(line.forge, runId)).exit_code === 5,
  )
  const log = await until('the last line', 15_000, async () => {
    const { stdout } = await line.run(['logs', runId])
    return stdout.includes('last\n') && stdout
  })
  t.deepEqual(
    withoutTicks(log).filter(text => /^(\d+|last)$/.test(text)),
    counted,
  )
})

const counted = [...Array.from({ length: 20_000 }, (_, nth) => String(nth + 1)), 'last']

/** `seq` writes blocks that end within a line, and the helper writes between two of them. */
const withoutTicks = (text: string): string[] => text.replaceAll('tick\n', '').trim().split('\n')

test('a helper does not hold up an interrupted command either', async t => {
  const { forge, run } = await signedIn(t)
  const interrupted = run(
    ['run', '-p', 'demo', '--', 'bash', '-c', 'sleep 600 & echo "$!"; exec sleep 600'],
    {
      onStdout(_text, kill) {
        kill('SIGINT')
      },
    },
  )
  const ended = await untilSettled('forge run ends', 60_000, interrupted)
  t.is(ended.code, 130, ended.stderr)
  t.like(await endOf(forge, runIdOf(ended.stderr)), { state: 'failed', exit_code: 130 })
  process.kill(Number(ended.stdout))
})
