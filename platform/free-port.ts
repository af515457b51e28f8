import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the range of outgoing connections, which could take the port before it is used. */
const range = { from: 15_000, to: 32_000 }
const attempts = 50

/** A port on 127.0.0.1 that is free now, without a guarantee that it stays free. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(range.from, range.to)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port between ${range.from} and ${range.to} after ${attempts} attempts`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
