import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { buildConnector, Pool } from 'undici'

/** Where an HTTP server listens. */
export type Address = {
  origin: string
  host: string
  /** Precedes the path of each request; without a slash at its end. */
  prefix: string
  /** The path of its Unix socket; null if it listens on `host`. */
  socket: string | null
}

const scheme = 'unix:'

/** The address of a server that listens on a Unix socket at this path. */
export const socketAddress = (path: string): string => `${scheme}${path}`

/** Reads `http://host:port/prefix` or `unix:/path`. Throws for anything else. */
export function parseAddress(text: string): Address {
  if (text.startsWith(`${scheme}/`))
    return {
      ...{ origin: 'http://localhost', host: 'localhost', prefix: '' },
      socket: text.slice(scheme.length),
    }
  const { protocol, origin, host, pathname } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new Error(`${protocol} is not a protocol of addresses`)
  return { origin, host, prefix: pathname.replace(/\/+$/, ''), socket: null }
}

/** How undici connects to an address; a connection that takes longer than `timeoutMs` fails. */
export const connectOptions = (
  { socket }: Address,
  timeoutMs: number,
): NonNullable<Pool.Options['connect']> =>
  socket === null ? { timeout: timeoutMs } : toSocket(socket, timeoutMs)

const toSocket =
  (path: string, timeoutMs: number): buildConnector.connector =>
  (_, done) => {
    connectTo(path, timeoutMs).then(
      connection => done(null, connection),
      (error: Error) => done(error, null),
    )
  }

/** How long to wait for a server that does not keep up with accepting connections. */
const againMs = 20

async function connectTo(path: string, timeoutMs: number): Promise<Socket> {
  const deadline = performance.now() + timeoutMs
  for (;;)
    try {
      return await connectOnce(path)
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      if (!isBusy || performance.now() > deadline) throw error
      await delay(againMs)
    }
}

/** `O_PATH` of open(2), which Node does not name: a handle on the file itself, whatever kind it is. */
const handleOnly = 0o10000000

/**
 * Never through a link: the folder may belong to somebody who would like this process to connect to another socket. The
 * check and the connection go through the same handle, and so to the same file.
 */
function connectOnce(path: string): Promise<Socket> {
  // Without handles there is no isolation either (docs/operate/security.md).
  if (process.platform !== 'linux') return connected(path)
  const handle = openSync(path, handleOnly | constants.O_NOFOLLOW)
  return connectBy(handle, path).finally(() => closeSync(handle))
}

async function connectBy(handle: number, path: string): Promise<Socket> {
  if (!fstatSync(handle).isSocket())
    throw Object.assign(new Error(`${path} is not a socket`), { code: 'ENOTSOCK' })
  return connected(`/proc/self/fd/${handle}`)
}

const connected = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const connection = connect({ path })
    connection.once('error', reject)
    connection.once('connect', () => {
      connection.off('error', reject)
      resolve(connection)
    })
  })
