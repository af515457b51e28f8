import { createConnection, createServer, type Socket } from 'node:net'
import { until } from './until.ts'

/**
 * A lane is a PostgreSQL and a process that hosts Forge servers. A test file has one to itself while it runs, so that no
 * transaction of another file holds back what its servers publish: PostgreSQL knows one oldest transaction for all its
 * databases.
 */
const variable = 'FORGE_TEST_LANES'
/** The lane that a host belongs to. */
const given = 'FORGE_TEST_LANE'

const waitMs = 600_000

let taken: Promise<number> | null = null

/** The number of this thread's lane. Without `npm test`, all files share the first. */
export function lane(): Promise<number> {
  const { [variable]: path, [given]: number } = process.env
  taken ??= path && number === undefined ? take(path) : Promise.resolve(Number(number ?? 0))
  return taken
}

/** For a process that must work in this thread's lane. */
export const inThisLane = async (): Promise<Record<string, string>> => ({
  [given]: String(await lane()),
})

/** The lane is free again when the connection ends, which it does with this thread, however that ends. */
async function take(path: string): Promise<number> {
  const socket = createConnection(path)
  let text = ''
  let failure: Error | null = null
  socket.setEncoding('utf8')
  socket.on('data', chunk => {
    text += chunk
  })
  socket.on('error', error => {
    failure = error
  })
  await until('a lane is free', waitMs, () => {
    if (failure !== null) throw failure
    return text !== ''
  })
  socket.unref()
  return Number(text)
}

export type Lanes = { variables: Record<string, string>; close(): void }

/** Lends `count` lanes to the test files of a run, each to one at a time. */
export async function lendLanes(path: string, count: number): Promise<Lanes> {
  const free = Array.from({ length: count }, (_, number) => number)
  const waiting: Socket[] = []
  const lend = () => {
    while (free.length > 0 && waiting.length > 0) {
      const socket = waiting.shift()
      if (socket === undefined || socket.destroyed) continue
      // Taken in turn: a file that ended a moment ago may still be stopping servers in its lane.
      const number = free.shift() ?? 0
      socket.once('close', () => {
        free.push(number)
        lend()
      })
      socket.write(String(number))
    }
  }
  const server = createServer(socket => {
    socket.on('error', () => socket.destroy())
    socket.resume()
    waiting.push(socket)
    lend()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return {
    variables: { [variable]: path },
    close() {
      server.close()
      for (const socket of waiting) socket.destroy()
    },
  }
}
