import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'

/** Listens at a free port until the end of the test; returns the address. */
export async function listen(t: ExecutionContext, server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
