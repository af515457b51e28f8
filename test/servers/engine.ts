import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from './postgres.ts'

export type Engine = {
  url: string
  /** Every request so far. */
  asked: { method: string; path: string; headers: NodeJS.Dict<string | string[]> }[]
  /** While false it returns 500. */
  isWell: boolean
}

/** A server with the OpenAI API's responses, always the same; ends with the test. */
export async function startEngine(t: Scope): Promise<Engine> {
  const engine: Engine = { url: '', asked: [], isWell: true }
  engine.url = await serveEngine(t, (request, response) => {
    request.resume().on('end', () => {
      const { method = '', url = '', headers } = request
      engine.asked.push({ method, path: url, headers })
      response.writeHead(engine.isWell ? 200 : 500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data: [{ id: 'default' }], choices: [{ index: 0 }] }))
    })
  })
  return engine
}

/** Responds on its own port until the test ends; returns its address. */
export async function serveEngine(t: Scope, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Responds to each request with this text, once it has arrived completely. */
export const say =
  (text: string): RequestListener =>
  (req, res) =>
    void req.resume().on('end', () => res.end(text))

let shared: Promise<string> | null = null

/** The address of an engine that lives as long as the process and does not keep it alive. */
export function engineForSamples(): Promise<string> {
  shared ??= new Promise(resolve => {
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
      response.end(JSON.stringify({ data: [{ id: 'default' }], choices: [{ index: 0 }] }))
    })
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    )
    server.unref()
  })
  return shared
}
