import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import type { StoredArtifact } from '../../executor/port.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

export const artifactOf = (bytes: Buffer, filename = 'model.bin'): StoredArtifact => ({
  artifact_id: 'art_1',
  path: `forge://run_a/upl_1/${filename}`,
  filename,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  size_bytes: bytes.length,
})

/** Responds as Forge does with these bytes, but to its first requests as specified. */
export async function serveArtifact(t: ExecutionContext, bytes: Buffer, ...first: Answer[]) {
  const asked: { url: string; range: string | null; token: unknown }[] = []
  const server = createServer((request, response) => {
    const { url = '', headers } = request
    asked.push({ url, range: headers.range ?? null, token: headers['x-service-token'] })
    const answer = first.shift() ?? whole(bytes)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}/api/ingest`
  return { asked, endpoint, source: { endpoint, run_id: 'run_b', token: 'fit_a_b' } }
}

export const whole =
  (bytes: Buffer): Answer =>
  ({ headers }, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0)
    const said = from > 0 && {
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    }
    const part = bytes.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': part.length, ...said }).end(part)
  }

/** Breaks the connection after this many bytes, once some of them were read: unread bytes are lost with it. */
export const broken =
  (bytes: Buffer, count: number, taken: () => Promise<unknown> = async () => {}): Answer =>
  (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const said = from > 0 && {
      'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
    }
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length - from, ...said })
    response.write(
      bytes.subarray(from, from + count),
      () => void taken().finally(() => request.socket.destroy()),
    )
  }

export const refusal =
  (status: number, detail: string, code = 'x'): Answer =>
  (_, response) =>
    response.writeHead(status).end(JSON.stringify({ detail, code }))

/** Sends this many bytes, and then nothing more. */
export const silent =
  (bytes: Buffer, count: number, heard: () => void = () => {}): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-length': bytes.length })
    response.write(bytes.subarray(0, count), heard)
  }
