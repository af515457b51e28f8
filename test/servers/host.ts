import { rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import './bundled.ts'
import type { Hosted, ServerName } from './hosted.ts'
import { isAlive } from './processes.ts'

// Imported only where it is wanted: the parts of Forge alone take a second.
const start: Record<ServerName, () => Promise<(folder: string) => Promise<Hosted>>> = {
  installation: async () => (await import('./installation.ts')).makeInstallation,
  samples: async () => (await import('../samples/prepare.ts')).prepareSamples,
  postgres: async () => (await import('./postgres-server.ts')).startCopy,
  'samples-postgres': async () => (await import('./postgres-server.ts')).startCopy,
  forge: async () => (await import('./forge-host.ts')).startForgeHost,
  kafka: async () => (await import('./kafka-server.ts')).startKafka,
  redis: async () => (await import('./redis-server.ts')).startRedis,
  s3: async () => (await import('./s3-server.ts')).startS3Proxy,
  slurm: async () => (await import('./slurm-server.ts')).startSlurm,
  browser: async () => (await import('./browser-server.ts')).startBrowser,
}

// Run as `host.ts <server> <folder> <pid>`: hosts the server until it is asked to stop or the process
// `pid` is gone, and then removes the folder.
const [name, folder = '', pid] = process.argv.slice(2)
await host(name as ServerName, folder, Number(pid))

async function host(name: ServerName, folder: string, pid: number): Promise<void> {
  const told = new Promise<void>(resolve => {
    process.once('SIGTERM', resolve)
    const watch = setInterval(() => {
      if (isAlive(pid)) return
      clearInterval(watch)
      resolve()
    }, 250)
  })
  await publish(folder, 'pid', String(process.pid))
  try {
    const server = await (await start[name]())(folder)
    await publish(folder, 'address', server.address)
    await told
    await server.stop()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
    await publish(folder, 'fault', error instanceof Error ? error.message : String(error))
    await told
  }
  await rm(folder, { recursive: true, force: true })
  // The last host to end removes the folder of the run.
  await rmdir(dirname(folder)).catch(() => {})
  process.exit(0)
}

async function publish(folder: string, file: string, text: string): Promise<void> {
  await writeFile(join(folder, `${file}.new`), text)
  await rename(join(folder, `${file}.new`), join(folder, file))
}
