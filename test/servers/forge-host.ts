import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Service } from '../../server/assemble.ts'
import { assembled } from './assembled.ts'
import type { Hosted } from './hosted.ts'

export type Starting = { env: Record<string, string>; logFile: string }

/** `fault` is the message of the error that prevented the server's start. */
export type Outcome = { url: string } | { fault: string }

/**
 * A process that runs the servers of a lane's tests, each with its own database and data directory, as `main.ts` would:
 * the modules are loaded once, and their code is hot.
 */
export async function startForgeHost(folder: string): Promise<Hosted> {
  const running = new Map<number, Service>()
  const calls: Record<string, (body: string) => Promise<unknown>> = {
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
  // A start may take a long time on a busy machine.
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
