import { join } from 'node:path'
import { createPool } from '../../platform/postgres/pool.ts'
import { callApi } from '../servers/api.ts'
import { databasesAt } from '../servers/databases.ts'
import { copiedVariable, type Hosted, type Installation } from '../servers/hosted.ts'
import { inMemory, leave } from '../servers/in-memory.ts'
import { forgetSchedules } from '../servers/installation.ts'
import { startCopyAt } from '../servers/postgres-server.ts'
import { settled } from '../servers/settled.ts'
import { assembleSampleServer } from './assemble.ts'
import { makeEverything, type Samples } from './make.ts'
import { sender } from './send.ts'

/** A server with people who each have one of everything, which has stopped. */
export type Prepared = Samples &
  Pick<Installation, 'postgres' | 'template'> & {
    /** To be copied as well. */
    dataDir: string
  }

/**
 * Makes the samples, once for all files of a run. The process keeps running, because the deployments of the samples, in
 * each copy, send their requests to its engine.
 */
export async function prepareSamples(folder: string): Promise<Hosted> {
  const installation: Installation = JSON.parse(process.env[copiedVariable] ?? '')
  const place = await inMemory(folder)
  const [postgres, dataDir, template] = [
    join(place, 'postgres'),
    join(folder, 'data'),
    'template_samples',
  ]
  const server = await startCopyAt(postgres, installation.postgres)
  const databases = databasesAt(server.address)
  const made: Samples[] = []
  await databases.makeTemplate(template, await databases.emptyTemplate(), async databaseUrl => {
    made.push(await makeOn({ databaseUrl, dataDir }))
  })
  await databases.end()
  await server.stop()
  const prepared = { ...made[0], postgres, template, dataDir }
  return { address: JSON.stringify(prepared), stop: () => leave(place) }
}

async function makeOn(place: { databaseUrl: string; dataDir: string }): Promise<Samples> {
  const pool = createPool(place.databaseUrl, { max: 3, applicationName: 'forge test samples' })
  const { url, stop } = await assembleSampleServer(place)
  try {
    const samples = await makeEverything({ send: sender(url), pool, dataDir: place.dataDir })
    const { token } = samples.people.admin
    await settled({ pool, call: (method, path) => callApi(url, method, path, { token }) })
    return samples
  } finally {
    await stop()
    await pool.end()
    await forgetSchedules(place.databaseUrl)
  }
}
