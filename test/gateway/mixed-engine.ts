import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { ExecutionContext } from 'ava'

export type Seen = { method: string; path: string; headers: string[]; body: string }
export type MixedEngine = { url: string; seen: Map<string, Seen> }

const kinds = ['json', 'stream', 'gzip', 'bytes', 'empty', 'none', 'error', 'headers'] as const
export type Kind = (typeof kinds)[number]
export const kindOf = (at: number): Kind => kinds[at % kinds.length] as Kind

/** Responds to each request in one of many shapes, which `X-Case` names. */
export async function startMixedEngine(t: ExecutionContext): Promise<MixedEngine> {
  const engine: MixedEngine = { url: '', seen: new Map() }
  const server = createServer((req, res) => {
    const parts: Buffer[] = []
    req.on('data', part => parts.push(part))
    req.on('end', () => {
      const body = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
      const { method = '', url = '', rawHeaders: headers } = req
      engine.seen.set(String(req.headers['x-case']), { method, path: url, headers, body })
      answer(req, res, body)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  engine.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return engine
}

function answer(req: IncomingMessage, res: ServerResponse, body: string): void {
  res.sendDate = false
  answers[req.headers['x-kind'] as Kind](res, body)
}

const answers: Record<Kind, (res: ServerResponse, body: string) => void> = {
  json: (res, body) =>
    sized(res, 200, Buffer.from(`{"id":"${body}", "usage" : {"prompt_tokens":1}}`)),
  stream(res, body) {
    res.writeHead(200, ['Content-Type', 'text/event-stream', 'cache-Control', 'no-cache'])
    for (let at = 0; at < 20; at++) res.write(`data: {"at":${at},"of":"${body}"}\n\n`)
    res.end('data: [DONE]\n\n')
  },
  gzip: (res, body) => sized(res, 200, gzipSync(body.repeat(50)), ['Content-Encoding', 'gzip']),
  bytes(res, body) {
    res.writeHead(206, 'Some Of It', ['CONTENT-TYPE', 'application/octet-stream'])
    for (let at = 0; at < 8; at++) res.write(Buffer.alloc(30_000, body + at, 'latin1'))
    res.end()
  },
  empty: res => void res.writeHead(204, ['X-Empty', '']).end(),
  none: res => sized(res, 200, Buffer.alloc(0)),
  error: (res, body) => sized(res, 422, Buffer.from(`{"error": {"message": "no ${body}"}}`)),
  headers: (res, body) =>
    sized(res, 200, Buffer.from(body), [
      ...['X-Twice', 'a=1', 'x-twice', 'b=2', 'X-Odd', ' spaced \t', 'x-lAtin', 'caf\xe9'],
      ...['Keep-Alive', 'timeout=9', 'Content-Security-Policy', 'none', 'Server', 'odd/1'],
    ]),
}

function sized(res: ServerResponse, status: number, body: Buffer, more: string[] = []): void {
  const always = ['Content-Type', 'application/json', 'Content-Length', String(body.length)]
  res.writeHead(status, [...always, ...more]).end(body)
}
