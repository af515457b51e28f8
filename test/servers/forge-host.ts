import { readdir, readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Pool } from 'pg'
import { destination } from 'pino'
import { createLogger } from '../../platform/logger.ts'
import { assemble, type Service } from '../../server/assemble.ts'
import { readConfig } from '../../server/config.ts'
import { adminPassword, signIn } from './api.ts'
import { databasesAt } from './databases.ts'
import { decisionsAreDone } from './decisions-done.ts'
import { type Hosted, postgresVariable } from './hosted.ts'
import { patient } from './patience.ts'
import { dataIn, environment } from './server-process.ts'
import { until } from './until.ts'

/** What every installation of the tests begins with. */
export type Seed = {
  /** The database to copy: the administrator, signed in. */
  template: string
  token: string
  /** The signing keys, PEM by file name. */
  keys: Record<string, string>
}

export type Starting = { env: Record<string, string>; logFile: string }

/** `fault` is the message of the error with which the server did not start. */
export type Outcome = { url: string } | { fault: string }

/** Above the two seconds of an installation, within which a busy machine may not project what a test wrote. */
const readWaitMs = 20_000

/**
 * A process that runs the servers of a lane's tests, each on a database and a data directory of its own, as `main.ts` would:
 * the modules are loaded once, and their code is hot.
 */
export async function startForgeHost(folder: string): Promise<Hosted> {
  const running = new Map<number, Service>()
  let seed: Promise<Seed> | null = null
  const calls: Record<string, (body: string) => Promise<unknown>> = {
    '/seed': () => {
      seed ??= makeSeed(folder)
      return seed
    },
    '/start': body => start(JSON.parse(body), running),
    async '/stop'(body) {
      const { port } = JSON.parse(body)
      const service = running.get(port)
      running.delete(port)
      await service?.stop()
      return {}
    },
  }
  const address = join(folder, 'calls.sock')
  const server = createServer(async (request, response) => {
    try {
      const answer = await calls[request.url ?? '']?.(await bodyOf(request))
      response.end(JSON.stringify(answer))
    } catch (error) {
      response.statusCode = 500
      response.end(error instanceof Error ? error.stack : String(error))
    }
  })
  // A start may take long on a busy machine.
  server.requestTimeout = 0
  await new Promise<void>(resolve => server.listen(address, resolve))
  return {
    address,
    async stop() {
      server.close()
      await Promise.all([...running.values()].map(service => service.stop()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

async function start({ env, logFile }: Starting, running: Map<number, Service>): Promise<Outcome> {
  try {
    const service = await assembled(env, logFile)
    running.set(Number(env.SERVICE_PORT), service)
    return { url: service.url }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function assembled(env: Record<string, string | undefined>, logFile: string): Promise<Service> {
  const settings = Object.entries(env).filter(([name]) => name.startsWith('SERVICE_'))
  const config = readConfig(Object.fromEntries(settings))
  const logger = createLogger(config.logLevel, false, destination({ dest: logFile, sync: true }))
  return assemble(config, { logger, version: '0.0.0-test', readWaitMs: patient(readWaitMs) })
}

/** The first start of an installation: what it does once need not be done for each test. */
async function makeSeed(folder: string): Promise<Seed> {
  const here = join(folder, 'seed')
  let token = ''
  const template = `served_${process.pid}`
  const databases = databasesAt(process.env[postgresVariable] ?? '')
  await databases.makeTemplate(template, await databases.emptyTemplate(), async url => {
    const env = {
      SERVICE_DATABASE_URL: url,
      SERVICE_ROLES: 'command-api,relay,projector,query-api',
    }
    const service = await assembled(await environment({ folder: here, env }, 0), `${here}.log`)
    try {
      token = await signIn(service.url, 'admin', adminPassword)
      await everythingIsDone(url)
    } finally {
      await service.stop()
    }
  })
  return { template, token, keys: await filesIn(join(dataIn(here), 'keys')) }
}

async function everythingIsDone(url: string): Promise<void> {
  const pool = new Pool({ connectionString: url, max: 1 })
  try {
    await until('the first administrator is in the read models', 60_000, () =>
      decisionsAreDone(pool),
    )
  } finally {
    await pool.end()
  }
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder)
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(names.map((name, place) => [name, texts[place] ?? '']))
}
