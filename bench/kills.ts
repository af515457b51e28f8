import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { IsolationSetting } from '../executor/node/isolation.ts'
import { isolationAt, openAt } from '../test/executor/bench.ts'
import { until } from '../test/servers/until.ts'
import { randomFrom } from '../test/whole/chaos/random.ts'
import { judge, type Planned, plan } from './kills/attempts.ts'

const usage = `npm run bench:kills -- [options]
  --kills N           how often the supervising process is killed with SIGKILL (200)
  --isolation MODE    none, bubblewrap, user, landlock (none)
  --seed S            repeats the choices; the instants differ (from the clock)`

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    isolation: { type: 'string', default: 'none' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.error(usage)
  process.exit(0)
}

/** The longest life of the process that supervises the attempts, counted from when it is open, in milliseconds. */
const longestMs = 1200
const program = fileURLToPath(new URL('kills/executor-process.ts', import.meta.url))
const setting = values.isolation as IsolationSetting
const random = randomFrom(Number(values.seed))
const folder = await mkdtemp(join(tmpdir(), 'forge-kills-'))
const [runs, scratch, planFile] = ['runs', 'scratch', 'plan'].map(name => join(folder, name)) as [
  string,
  string,
  string,
]
await mkdir(scratch)
await chmod(scratch, 0o777)
await chmod(folder, 0o711)
await writeFile(planFile, '')

const planned: Planned[] = []
for (let kill = 1; kill <= Number(values.kills); kill++) {
  const next = plan(planned.length, scratch, random)
  planned.push(next)
  const { child, opened } = startExecutor()
  await opened
  await appendFile(planFile, `${JSON.stringify(next)}\n`)
  await pause(random.whole(0, longestMs))
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  if (kill % 20 === 0) console.error(`${kill} kills`)
}
const { child, left } = startExecutor()
await until('all attempts have ended', 300_000, () => left() === 0)
child.kill('SIGKILL')
const isolation = await isolationAt(runs, setting, { writable: [scratch] })
const verdict = await judge(await openAt(runs, { isolation }), planned, scratch)
await rm(folder, { recursive: true, force: true, maxRetries: 10 })
const { lost, twice, wrong } = verdict
console.log(`${planned.length} attempts, ${values.kills} kills (${setting}, seed ${values.seed}):`)
console.log(`lost ${lost} twice ${twice} wrong ${wrong}`)
process.exitCode = lost + twice + wrong === 0 ? 0 : 1

/** Starts a process that supervises the attempts. */
function startExecutor(): { child: ChildProcess; opened: Promise<void>; left(): number | null } {
  const child = spawn(process.execPath, [program, setting, runs, scratch, planFile], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let last: number | null = null
  const opened = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      resolve()
      const said = /(\d+) left\n$/.exec(String(chunk))
      if (said) last = Number(said[1])
    })
    child.once('exit', () => reject(new Error('it ended unexpectedly')))
  })
  // Also when it is killed later.
  opened.catch(() => {})
  return { child, opened, left: () => last }
}
