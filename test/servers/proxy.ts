import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { ExecutionContext } from 'ava'
import { listen } from './listen.ts'

/** The proxy's response instead of passing a request on. */
export type Interjection = { status: number; headers?: Record<string, string>; body?: string }

export type ReverseProxy = {
  /** The server's address through the proxy. */
  url: string
  /** From now on responds itself; null: passes everything on again. */
  interject(what: Interjection | null): void
  /** Requests that it has responded to itself. */
  interjected(): number
  /** Requests that it has passed on. */
  passed(): number
}

/** A reverse proxy in front of a server of the tests, as operators use one: sometimes it responds itself. */
export async function proxyBefore(t: ExecutionContext, target: string): Promise<ReverseProxy> {
  let own: Interjection | null = null
  let [count, passed] = [0, 0]
  const server = createServer((asked, answer) => {
    if (own === null) {
      passed += 1
      passOn(target, asked, answer)
      return
    }
    count += 1
    const { status, headers = {}, body = '<html><h1>Not now</h1></html>' } = own
    asked.resume().once('end', () => {
      answer.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body)
    })
  })
  const url = await listen(t, server)
  return {
    url,
    interject(what) {
      own = what
    },
    interjected: () => count,
    passed: () => passed,
  }
}

function passOn(target: string, asked: IncomingMessage, answer: ServerResponse): void {
  const { method, headers, url } = asked
  const onward = request(`${target}${url}`, { method, headers }, response => {
    answer.writeHead(response.statusCode ?? 502, response.headers)
    response.pipe(answer)
  })
  onward.on('error', () => {
    if (!answer.headersSent) answer.writeHead(502)
    answer.end()
  })
  asked.pipe(onward)
}
