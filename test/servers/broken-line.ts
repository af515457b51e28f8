import { type AddressInfo, connect, createServer } from 'node:net'
import type { ExecutionContext } from 'ava'

/** A line to a server that breaks once, after this many bytes of requests; it then works again. */
export async function proxyBetween(
  t: ExecutionContext,
  to: string,
  breakAfterBytes: number,
  at = 0,
) {
  const { port: target } = new URL(to)
  let [bytes, cut] = [0, 0]
  const server = createServer(near => {
    const far = connect(Number(target), '127.0.0.1')
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const side of [near, far]) side.on('error', end).on('close', end)
    near.on('data', chunk => {
      bytes += chunk.length
      if (bytes > breakAfterBytes && cut === 0) {
        cut += 1
        end()
      }
    })
    near.pipe(far).pipe(near)
  }).listen(at, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, bytes: () => bytes, cut: () => cut }
}
