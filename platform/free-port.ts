import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { createServer } from 'node:net'

/** Below the range of outgoing connections, which could take the port before it is used. */
const range = { from: 15_000, to: 32_000 }
const attempts = 50
/** Long enough for the server that will listen to start, or to restart. */
const reservedForMs = 10 * 60_000

/**
 * A TCP port on 127.0.0.1 that is free now. This function reserves it for ten minutes, across all processes of this
 * machine and for as long as this process runs; other programs may still take it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(range.from, range.to)
    if ((await reserve(port)) && (await isFree(port))) return port
  }
  throw new Error(`no free port between ${range.from} and ${range.to} after ${attempts} attempts`)
}

/** The UDP port of the same number marks the reservation: the TCP port stays free. */
async function reserve(port: number): Promise<boolean> {
  const socket = await holdPort(port)
  if (socket === null) return false
  setTimeout(() => socket.close(), reservedForMs).unref()
  return true
}

/** Holds a UDP port of 127.0.0.1, until this thread ends at the latest; null if it is taken. */
export function holdPort(port: number): Promise<Socket | null> {
  return new Promise(resolve => {
    const socket = createSocket('udp4')
    socket.once('error', () => resolve(null))
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket.unref()))
  })
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
