import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Client } from 'undici'
import { pythonClient } from '../../executor/preparation/recipe-command.ts'
import { freePort } from '../../platform/free-port.ts'
import { connectOptions, parseAddress, socketAddress } from '../../platform/http/address.ts'
import { engineProgram } from '../../recipes/templates.ts'
import { folder } from '../recipes/tiny-recipe.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

// The program of every replica, with engines of a few lines.

const answering = `
import http.server, signal, socket, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

class OnSocket(http.server.HTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self):
        self.socket.bind(self.server_address)

    def get_request(self):
        return self.socket.accept()[0], ("", 0)

if sys.argv[1].endswith(".sock"):
    server = OnSocket(sys.argv[1], Handler)
else:
    server = http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
print("listens", *sys.argv[3:], flush=True)
`
const serving = `${answering}server.serve_forever()\n`
const endsWith = (code: number) => `signal.signal(signal.SIGTERM, lambda *_: sys.exit(${code}))\n`

type Replica = {
  child: ChildProcess
  port: number
  said: () => string
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; said: string }>
}

type Wanted = {
  engine: string
  command?: string[]
  options?: string[][]
  params?: Record<string, unknown>
  timeout_s?: number
  port?: number
  /** The socket that it must listen on. */
  socket?: string
}

async function start(t: ExecutionContext, { engine, ...wanted }: Wanted): Promise<Replica> {
  const template = await folder(t)
  const { port = await freePort(), params = {}, options = [], timeout_s = 60 } = wanted
  const { command = ['python', 'engine.py', '{host}', '{port}'] } = wanted
  await writeFile(path.join(template, 'engine.py'), engine)
  await writeFile(path.join(template, 'params.json'), JSON.stringify(params))
  const readiness = { path: '/health', timeout_s, interval_s: 0.05 }
  const served = { served_names: ['a', 'b'], args: ['--last'], tensor_parallel: 1 }
  const child = spawn('python3', ['-B', engineProgram], {
    cwd: template,
    env: {
      ...{ PATH: process.env.PATH, PYTHONPATH: pythonClient },
      ...{ PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1' },
      ...{ SERVICE_ENABLED: '0', FORGE_INIT_FROM: template },
      FORGE_PARAMS_FILE: path.join(template, 'params.json'),
      FORGE_SERVING: JSON.stringify({ template, command, options, readiness, ...served }),
      ...{ FORGE_SERVING_HOST: '127.0.0.1', FORGE_SERVING_PORT: String(port) },
      ...(wanted.socket !== undefined && { FORGE_SERVING_SOCKET: wanted.socket }),
    },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', bytes => {
      text += bytes
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, said: text }))
  return { child, port, ended, said: () => text }
}

const untilSaid = (replica: Replica, what: RegExp) =>
  until(`it says ${what}`, 30_000, () => what.test(replica.said()))

test('an engine gets its address, its names and its parameters, and its output is passed on', async t => {
  t.timeout(patient(60_000))
  const replica = await start(t, {
    engine: serving,
    command: ['python', 'engine.py', '{host}', '{port}', '{served_names}', 'x={served_names}'],
    options: [
      ['--depth={param:depth}', '{param:sizes}'],
      ['--width', '{param:width}'],
    ],
    params: { depth: 3, sizes: [1, 2], width: null },
  })
  await untilSaid(replica, /responds after/)
  t.regex(replica.said(), /^listens a b x=a,b --depth=3 \[1, 2\] --last$/m)
  replica.child.kill('SIGTERM')
  t.like(await replica.ended, { signal: 'SIGTERM' }, 'as the engine ended, which does not catch it')
})

const where = [['{socket}'], ['{host}', '{port}']]
const python = ['python', 'engine.py']

test('requests reach an engine by its socket, even in place of an earlier one and at a long path', async t => {
  t.timeout(patient(60_000))
  const deep = path.join(await folder(t), 'x'.repeat(120), 'y'.repeat(120))
  await mkdir(deep, { recursive: true })
  for (const socket of [path.join(await folder(t), 'e.sock'), path.join(deep, 'engine.sock')])
    for (let attempt = 1; attempt <= 2; attempt++) {
      const replica = await start(t, { engine: serving, command: python, options: where, socket })
      await untilSaid(replica, /responds after/)
      t.is(await statusAt(socket), 200)
      t.regex(replica.said(), /^\[forge\] starts .*engine\.py \S+\.sock --last$/m)
      replica.child.kill('SIGKILL')
      await replica.ended
    }
})

test('an engine that knows only ports is reached by its socket all the same', async t => {
  t.timeout(patient(60_000))
  const socket = path.join(await folder(t), 'engine.sock')
  const options = where.slice(1)
  const replica = await start(t, { engine: serving, command: python, options, socket })
  await untilSaid(replica, /engine\.sock responds after/)
  const all = await Promise.all(Array.from({ length: 20 }, () => statusAt(socket)))
  t.deepEqual([...new Set(all)], [200])
  replica.child.kill('SIGTERM')
  await replica.ended
  await t.throwsAsync(statusAt(socket))
})

async function statusAt(socket: string): Promise<number> {
  const address = parseAddress(socketAddress(socket))
  const client = new Client(address.origin, { connect: connectOptions(address, 10_000) })
  try {
    const { statusCode, body } = await client.request({ path: '/v1/models', method: 'GET' })
    await body.dump()
    return statusCode
  } finally {
    await client.destroy()
  }
}

test('a stop is passed on, and the replica ends with the engine’s exit code', async t => {
  t.timeout(patient(60_000))
  for (const code of [0, 7]) {
    const replica = await start(t, {
      engine: `${answering}${endsWith(code)}server.serve_forever()`,
    })
    await untilSaid(replica, /responds after/)
    replica.child.kill('SIGTERM')
    t.like(await replica.ended, { code, signal: null })
  }
})

test('a stop before the engine responds ends it, and does not count as a failure', async t => {
  t.timeout(patient(60_000))
  const engine = `import signal, sys, time\n${endsWith(0)}print("loads", flush=True)\ntime.sleep(600)`
  const replica = await start(t, { engine })
  await untilSaid(replica, /loads/)
  replica.child.kill('SIGTERM')
  const { code, said } = await replica.ended
  t.is(code, 0)
  t.notRegex(said, /before it was ready/)
})

test('an engine that ends before it responds is reported with its last 20 lines', async t => {
  t.timeout(patient(60_000))
  const engine = 'import sys\nfor line in range(30):\n    print("line", line)\nsys.exit(3)'
  const { code, said } = await (await start(t, { engine })).ended
  t.is(code, 78)
  const told = said.slice(said.indexOf('[forge] the engine ended'))
  t.regex(told, /with exit code 3 before it was ready; its last output:\nline 10\n/)
  t.regex(told, /line 29/)
  t.notRegex(told, /line 9\n/)
})

test('an engine that does not respond in time is ended', async t => {
  t.timeout(patient(60_000))
  const engine = 'import time\nprint("loads for ever", flush=True)\ntime.sleep(600)'
  const { code, said } = await (await start(t, { engine, timeout_s: 2 })).ended
  t.is(code, 78)
  t.regex(said, /did not respond at \/health within 2 s; its last output:\nloads for ever/)
})

test('an engine that is killed while it serves ends its replica by the same signal', async t => {
  t.timeout(patient(60_000))
  const engine = `${answering}import os\nprint("pid", os.getpid(), flush=True)\nserver.serve_forever()`
  const replica = await start(t, { engine })
  await untilSaid(replica, /responds after/)
  process.kill(Number(/pid (\d+)/.exec(replica.said())?.[1]), 'SIGKILL')
  const { signal, said } = await replica.ended
  t.is(signal, 'SIGKILL')
  t.regex(said, /the engine ended by signal 9/)
})

test('the reason that prevents an engine’s start is reported', async t => {
  t.timeout(patient(60_000))
  const first = await start(t, { engine: serving })
  await untilSaid(first, /responds after/)
  const cases: [Partial<Wanted>, RegExp][] = [
    [{ port: first.port }, /port \d+ of 127\.0\.0\.1 cannot be used: Address already in use/],
    [{ command: ['no-such-program'] }, /no-such-program cannot be started: No such file/],
    [
      { command: ['python', '{param:depth}'] },
      /needs param:depth, which this replica does not have/,
    ],
  ]
  for (const [part, what] of cases) {
    const { code, said } = await (await start(t, { engine: serving, ...part })).ended
    t.is(code, 78)
    t.regex(said, what)
  }
  first.child.kill('SIGTERM')
  await first.ended
})
