import { type ChildProcess, spawn } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { failuresIn } from './shake/failures.ts'
import { describe, type Round, roundOf, variablesOf } from './shake/rounds.ts'

const usage = `npm run test:shake -- ROUNDS [options] [files…]
Runs all tests, or these files, this many times: in another order each time, on a busy machine every other time, in another time
zone and locale, and with the clock put forward where libfaketime is installed (Debian's faketime). Continues after a failure;
at the end it lists all failures, and the environment of those rounds.
  --busy     in every round
  --seed N   repeats the rounds of a seed that an earlier shake printed`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    busy: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
const [count = '', ...files] = positionals
const [rounds, seed] = [Number(count), Number(values.seed)]
if (values.help || !(Number.isInteger(rounds) && rounds > 0) || !Number.isInteger(seed)) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}

/** How many processes spin in a busy round. */
const spinning = 2
/** Spins until it is killed, or its parent has ended. */
const spin = `
  const parent = process.ppid
  for (;;) {
    const until = performance.now() + 500
    while (performance.now() < until);
    if (process.ppid !== parent) process.exit()
  }`

const say = (text: string) => void process.stderr.write(`${text}\n`)

let running: ChildProcess | null = null
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isInterrupted = true
    // Ctrl-C in a terminal reaches the child as well; a SIGTERM reaches only this process.
    if (signal === 'SIGTERM') running?.kill(signal)
  })

const library = await findLibrary()
if (library === null) say('The clock stays unchanged: libfaketime is not installed.')
say(`${rounds} rounds, seed ${seed}`)
const failures = new Map<string, number[]>()
const played: Round[] = []
for (let nth = 0; nth < rounds && !isInterrupted; nth++) {
  const now = new Date()
  const round = roundOf(seed, nth, { busy: values.busy, clock: library !== null, now })
  played.push(round)
  say(`\nRound ${nth + 1} of ${rounds}: ${describe(round, library)}`)
  for (const failure of await play(round))
    failures.set(failure, [...(failures.get(failure) ?? []), nth])
}
report()
process.exitCode = isInterrupted ? 130 : failures.size > 0 ? 1 : 0

/** Runs the tests once, and returns the failures. */
async function play(round: Round): Promise<string[]> {
  const spinners = round.isBusy
    ? Array.from({ length: spinning }, () => spawn(process.execPath, ['-e', spin]))
    : []
  const child = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), ...files], {
    stdio: ['inherit', 'pipe', 'pipe'],
    env: { ...process.env, ...variablesOf(round, library) },
  })
  running = child
  let output = ''
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const)
    from.setEncoding('utf8').on('data', text => {
      output += text
      to.write(text)
    })
  const code = await new Promise<number | null>(resolve => {
    child.once('error', () => resolve(1))
    child.once('close', resolve)
  })
  for (const spinner of spinners) spinner.kill('SIGKILL')
  const found = failuresIn(output)
  if (code === 0 || found.length > 0 || isInterrupted) return found
  return [`the run ended with ${code}, and named no test`]
}

function report(): void {
  if (failures.size === 0) {
    say(`\n${played.length} rounds, nothing failed (seed ${seed})`)
    return
  }
  say(`\nFailed in ${played.length} rounds (seed ${seed}):`)
  for (const [failure, among] of failures)
    say(`  ${failure}: ${among.length} times, in ${among.map(nth => nth + 1).join(', ')}`)
  const affected = [...new Set([...failures.values()].flat())].sort((a, b) => a - b)
  say('\nThese rounds were:')
  for (const [nth, round] of played.entries())
    if (affected.includes(nth)) say(`  ${nth + 1}: ${describe(round, library)}`)
}

async function findLibrary(): Promise<string | null> {
  for await (const path of glob('/usr/lib/*/faketime/libfaketime.so.1')) return path
  return null
}
