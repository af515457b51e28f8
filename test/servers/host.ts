import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Hosted, ServerName } from './hosted.ts'
import { startKafka } from './kafka-server.ts'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'
import { startS3Proxy } from './s3-server.ts'
import { startSlurm } from './slurm-server.ts'

const start: Record<ServerName, (folder: string) => Promise<Hosted>> = {
  postgres: startPostgres,
  kafka: startKafka,
  redis: startRedis,
  s3: startS3Proxy,
  slurm: startSlurm,
  // Loads all of Playwright, which the other hosts need not wait for.
  browser: async () => (await import('./browser-server.ts')).startBrowser(),
}

// Run as `host.ts <server> <folder> <pid>`: hosts the server until it is told to stop or the process
// `pid` is gone, and then takes the folder away.
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
  try {
    const server = await start[name]?.(folder)
    if (!server) throw new Error(`there is no test server named ${name}`)
    await publish(folder, 'address', server.address)
    await told
    await server.stop()
  } catch (error) {
    await publish(folder, 'fault', error instanceof Error ? error.message : String(error))
    await told
  }
  await rm(folder, { recursive: true, force: true })
  process.exit(0)
}

async function publish(folder: string, file: string, text: string): Promise<void> {
  await writeFile(join(folder, `${file}.new`), text)
  await rename(join(folder, `${file}.new`), join(folder, file))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
