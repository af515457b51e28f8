import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'

const root = join(import.meta.dirname, '../../..')

async function startFails(t: ExecutionContext, env: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'forge-start-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const child = spawn(process.execPath, [join(root, 'main.ts')], {
    cwd: folder,
    env: { PATH: process.env.PATH, SERVICE_DATA_DIR: dataDir, ...env },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      said += chunk
    })
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, said, dataDir }
}

test('a busy port is named before anything is created, with the way to choose another', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await new Promise(resolve => other.once('listening', resolve))
  const { port } = other.address() as AddressInfo
  const { code, said, dataDir } = await startFails(t, { SERVICE_PORT: String(port) })
  t.is(code, 1)
  t.regex(said, new RegExp(`Another program listens on port ${port} of 127.0.0.1: stop it, or`))
  t.regex(said, /SERVICE_PORT/)
  t.notRegex(said, /password|\n +at /)
  t.false(existsSync(dataDir))
})

test('an address of another machine is named with the setting to change', async t => {
  const { code, said } = await startFails(t, { SERVICE_HOST: '192.0.2.1', SERVICE_PORT: '0' })
  t.is(code, 1)
  t.regex(said, /192\.0\.2\.1 is not an address of this machine: set SERVICE_HOST/)
  t.notRegex(said, /\n +at /)
})

test('a data directory where the kernel allows no folders is named, too', async t => {
  const { code, said } = await startFails(t, {
    SERVICE_DATA_DIR: '/proc/forge/data',
    SERVICE_PORT: '0',
  })
  t.is(code, 1)
  t.regex(said, /cannot keep its data in \/proc\/forge\/data .*set SERVICE_DATA_DIR/)
})

test('a data directory that cannot be created is named with the setting to change', async t => {
  const file = fileURLToPath(import.meta.url)
  const { code, said } = await startFails(t, {
    SERVICE_DATA_DIR: `${file}/data`,
    SERVICE_PORT: '0',
  })
  t.is(code, 1)
  t.regex(said, /cannot keep its data in \/.*\/data .*set SERVICE_DATA_DIR/)
  t.notRegex(said, /\n +at /)
})
