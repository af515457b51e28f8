import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { freePort } from '../../platform/free-port.ts'
import type { Outcome, Starting } from './forge-host.ts'
import { addressOf } from './rendezvous.ts'
import { environment, type ServerOptions, type ServerProcess } from './server-process.ts'

/** A server in the process that hosts this lane's servers: it starts in a fraction of the time, but cannot be killed alone. */
export type HostedServer = Pick<ServerProcess, 'url' | 'dataDir' | 'output' | 'start'> & {
  /** Stops it in order. May be called twice, and `start` afterwards. */
  stop(): Promise<unknown>
}

/** A server on its own port, not yet started. */
export async function hostedServer({
  folder,
  env = {},
}: Pick<ServerOptions, 'folder' | 'env'>): Promise<HostedServer> {
  const port = await freePort()
  const settings = definedOf(await environment({ folder, env }, port))
  const logFile = join(folder, `server-${port}.log`)
  const starting: Starting = { env: settings, logFile }
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    dataDir: settings.SERVICE_DATA_DIR ?? '',
    output: () => readFileSync(logFile, 'utf8'),
    async start() {
      await mkdir(folder, { recursive: true })
      const outcome = await callHost<Outcome>('/start', starting)
      if ('fault' in outcome) throw new Error(`the server did not start: ${outcome.fault}`)
    },
    stop: () => callHost('/stop', { port }),
  }
}

function definedOf(env: Record<string, string | undefined>): Record<string, string> {
  const given = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  return Object.fromEntries(given)
}

async function callHost<T>(path: string, body: object): Promise<T> {
  const socketPath = await addressOf('forge')
  const { status, text } = await send(socketPath, path, JSON.stringify(body))
  if (status !== 200) throw new Error(`the host of the servers: ${text}`)
  return JSON.parse(text) as T
}

function send(
  socketPath: string,
  path: string,
  body: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: 'POST', agent: false }, async response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.once('error', reject)
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.once('error', cause => reject(new Error('the host of the servers is gone', { cause })))
    sent.end(body)
  })
}
