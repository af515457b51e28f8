import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPool } from '../../platform/postgres/pool.ts'
import { adminPassword, signIn } from './api.ts'
import { assembled } from './assembled.ts'
import { databasesAt } from './databases.ts'
import { decisionsAreDone } from './decisions-done.ts'
import type { Hosted, Installation } from './hosted.ts'
import { inMemory, leave } from './in-memory.ts'
import { startPostgres } from './postgres-server.ts'
import { dataIn, environment } from './server-process.ts'
import { until } from './until.ts'

/** Nothing keeps running; the address is the installation. */
export async function makeInstallation(folder: string): Promise<Hosted> {
  const place = await inMemory(folder)
  const postgres = await startPostgres(join(place, 'postgres'))
  const databases = databasesAt(postgres.address)
  const template = 'template_served'
  let token = ''
  await databases.makeTemplate(template, await databases.emptyTemplate(), async url => {
    token = await startOnce(url, folder)
  })
  await databases.end()
  await postgres.stop()
  const installation: Installation = {
    postgres: join(place, 'postgres'),
    template,
    token,
    keys: await textsIn(join(dataIn(folder), 'keys')),
  }
  return { address: JSON.stringify(installation), stop: () => leave(place) }
}

/** Starts a server for the first time, and stops it. Returns the administrator's access token. */
async function startOnce(url: string, folder: string): Promise<string> {
  const env = { SERVICE_DATABASE_URL: url, SERVICE_ROLES: 'command-api,relay,projector,query-api' }
  const service = await assembled(await environment({ folder, env }, 0), join(folder, 'server.log'))
  try {
    const token = await signIn(service.url, 'admin', adminPassword)
    await everythingIsDone(url)
    return token
  } finally {
    await service.stop()
    await forgetSchedules(url)
  }
}

/** Each server of a test sets its own: an hour that passes during the run would make them all due at their first start. */
export async function forgetSchedules(url: string): Promise<void> {
  const pool = createPool(url, { max: 1, applicationName: 'forge test' })
  await pool.query(
    `delete from write.duty where event_id is null and reactor in (select schedule from write.schedule);
     delete from write.schedule`,
  )
  await pool.end()
}

async function everythingIsDone(url: string): Promise<void> {
  const pool = createPool(url, { max: 1, applicationName: 'forge test' })
  try {
    await until('the first administrator is in the read models', 60_000, () =>
      decisionsAreDone(pool),
    )
  } finally {
    await pool.end()
  }
}

async function textsIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder)
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, place) => [name, texts[place] ?? '']))
}
