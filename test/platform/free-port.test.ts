import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { promisify } from 'node:util'
import test from 'ava'
import { freePort } from '../../platform/free-port.ts'

const module = new URL('../../platform/free-port.ts', import.meta.url).href
/** 800 of 17,000: by chance alone, two processes would share some 38 of them. */
const asked = 800

const portsOf = async (code: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    `import { freePort } from ${JSON.stringify(module)}; ${code}`,
  ])
  return JSON.parse(stdout) as number[]
}

test('no port is assigned to two callers, in one process or in two', async t => {
  const own = await Promise.all(Array.from({ length: asked }, freePort))
  const others = await portsOf(
    `const ports = []; for (let i = 0; i < ${asked}; i++) ports.push(await freePort()); console.log(JSON.stringify(ports))`,
  )
  t.is(new Set([...own, ...others]).size, 2 * asked)
})

test('the port can be listened on, and reserving does not keep a process alive', async t => {
  // Its program ends on its own, although it holds a reservation.
  const [port = 0] = await portsOf('console.log(JSON.stringify([await freePort()]))')
  t.is(await listenedOn(port, '127.0.0.1'), port)
  const own = await freePort()
  t.is(await listenedOn(own, '0.0.0.0'), own, 'while it is reserved')
})

/** The port that a server received when it asked for this one. */
async function listenedOn(port: number, host: string): Promise<number | undefined> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  const { port: got } = server.address() as AddressInfo
  server.close()
  return got
}
