import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

export type PathProxy = {
  /** The public address, with the path. */
  url: string
  /** The server behind it from now on. */
  passTo(target: string): void
  /** The requests outside of the path, which belong to other applications of the host. */
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
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    passTo(next) {
      target = next
    },
    strayed,
  }
}
