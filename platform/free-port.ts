import { createServer } from 'node:net'

/** A port on 127.0.0.1 that nobody listens on now; somebody may before it is used. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address && typeof address === 'object') resolve(address.port)
      })
    })
  })
}
