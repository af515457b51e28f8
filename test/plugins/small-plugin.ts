import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { makeCertificates } from '../servers/certificates.ts'

type Data = Record<string, unknown> & { spec?: { spec: Record<string, unknown> } }
export type Received = { path: string; headers: IncomingHttpHeaders; body: string; data: Data }

/** An HTTPS server whose responses a test chooses, by path. */
export type SmallPlugin = {
  port: number
  caFile: string
  url(path: string): string
  received: Received[]
  on(path: string, answer: (response: ServerResponse, received: Received) => void): void
  close(): void
}

export async function startSmallPlugin(folder: string): Promise<SmallPlugin> {
  const { caFile, certFile, keyFile } = await makeCertificates(folder, 'plugin')
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
  const answers = new Map<string, (response: ServerResponse, received: Received) => void>()
  const received: Received[] = []
  const server = createServer({ cert, key }, async (request, response) => {
    const path = request.url ?? ''
    const body = await text(request)
    const data = body === '' ? {} : JSON.parse(body).data
    const one = { path, headers: request.headers, body, data }
    received.push(one)
    const answer = answers.get(path)
    if (answer) answer(response, one)
    else response.writeHead(404).end()
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    ...{ port, caFile, received },
    url: path => `https://localhost:${port}${path}`,
    on: (path, answer) => void answers.set(path, answer),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export const json = (value: unknown) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

/** As a receiver of Standard Webhooks checks it. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const mac = createHmac('sha256', key).update(signed).digest('base64')
  return String(headers['webhook-signature']).split(' ').includes(`v1,${mac}`)
}
