import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { freePort } from '../../platform/free-port.ts'
import { builtInRecipes } from '../../recipes/catalogue.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

// How the ranks of the recipe data-parallel find each other on a machine with strangers.

const program = `
import os, sys
sys.path.insert(0, sys.argv[1])
import gang
try:
    ranks = gang.join(os.environ, 20)
    print("joined", ranks.sum([1.0]))
except gang.GangError as error:
    print("refused:", error)`

function startRank(t: ExecutionContext, rank: number, port: number): Promise<string> {
  const child = spawn(
    'python3',
    ['-B', '-c', program, path.join(builtInRecipes, 'data-parallel')],
    {
      env: {
        ...{ PATH: process.env.PATH, RANK: String(rank), WORLD_SIZE: '2', SERVICE_TOKEN: 'secret' },
        ...{ MASTER_ADDR: '127.0.0.1', MASTER_PORT: String(port), PYTHONUNBUFFERED: '1' },
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  t.teardown(() => child.kill('SIGKILL'))
  return text(child.stdout)
}

function message(value: object): Buffer {
  const body = Buffer.from(JSON.stringify(value))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length)
  return Buffer.concat([length, body])
}

/** The port of a process that responds to everything it hears with `said`. */
async function impostor(t: ExecutionContext, said: object[], heard: string[]): Promise<number> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    const next = () => socket.write(message(said.shift() ?? {}))
    socket.on('data', data => {
      heard.push(String(data))
      next()
    })
    next()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

test('a rank sends nothing to a process that took the place of rank 0', async t => {
  t.timeout(patient(60_000))
  const heard: string[] = []
  const challenge = { challenge: 'c' }
  const port = await impostor(t, [challenge, { size: 2, proof: 'forged' }], heard)
  t.regex(await startRank(t, 1, port), /refused: .* the process there is not of this run/)
  t.is(heard.length, 1, 'only its own proof')
  t.notRegex(heard.join(''), /secret/)
})

test('the proof of a rank is of no use to others', async t => {
  t.timeout(patient(60_000))
  const heard: string[] = []
  const first = startRank(t, 1, await impostor(t, [{ challenge: 'c' }], heard))
  await first
  const recorded = JSON.parse((heard[0] ?? '').slice(4))
  const port = await freePort()
  const rank0 = startRank(t, 0, port)
  const replay = await until('rank 0 listens', 20_000, () => connected(port))
  replay.write(message(recorded))
  await once(replay.resume(), 'close')
  t.regex(await startRank(t, 1, port), /joined \[2\.0\]/)
  t.regex(await rank0, /joined \[2\.0\]/)
})

const connected = (port: number): Promise<Socket | null> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
