import { createServer, request } from 'node:http'
import type { ExecutionContext } from 'ava'
import { listen } from './listen.ts'

export type PathProxy = {
  /** The public address, with the path. */
  url: string
  /** The server behind it from now on. */
  passTo(target: string): void
  /** The requests outside the path, which belong to other applications of the host. */
  strayed: string[]
}

/** A reverse proxy that serves one application under a path of its host, and passes the path on unchanged. */
export async function proxyUnder(t: ExecutionContext, path: string): Promise<PathProxy> {
  let target: string | null = null
  const strayed: string[] = []
  const server = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked
    if (target === null || !/^[/?]|^$/.test(url.slice(path.length)) || !url.startsWith(path)) {
      strayed.push(`${method} ${url}`)
      asked.resume()
      answer.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Another application</h1>')
      return
    }
    const onward = request(`${target}${url}`, { method, headers }, response => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    answer.on('close', () => onward.destroy())
    asked.pipe(onward)
  })
  const url = await listen(t, server)
  return {
    url: `${url}${path}`,
    passTo(next) {
      target = next
    },
    strayed,
  }
}
