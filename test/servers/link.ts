import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

export type Link = {
  /** The same address through the link. */
  url: string
  /** Cuts open connections and accepts no new ones. */
  cut(): void
  /** Silently stops both directions, like a host that vanished. */
  freeze(): void
  /** Lets new connections through again; cut or frozen ones stay lost. */
  mend(): void
}

/** A way to a server of the tests, perhaps at a Unix socket, that can be cut without ending it for the others. */
export async function linkTo(t: ExecutionContext, address: string): Promise<Link> {
  const target = new URL(address)
  const isSocket = target.protocol === 'unix:'
  const sockets = new Set<Socket>()
  let isCut = false
  let isFrozen = false
  const server = createServer(near => {
    if (isCut) {
      near.destroy()
      return
    }
    if (isFrozen) {
      sockets.add(near)
      near.on('error', () => {})
      return
    }
    const far = isSocket ? connect(target.pathname) : connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    server.close()
    close()
  })
  const url = new URL(isSocket ? 'http://127.0.0.1' : address)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.toString(),
    cut() {
      isCut = true
      close()
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.unpipe().pause()
    },
    mend() {
      if (isFrozen) close()
      isFrozen = false
      isCut = false
    },
  }
}
