import { chmod, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { controlSockets } from '../../executor/node/control-sockets.ts'
import { describeIsolation } from '../../executor/node/isolation.ts'
import { isolationAt } from './bench.ts'
import { whatHolds } from './what-holds.ts'

const holds = await whatHolds()

/** A folder that everybody may pass, with a socket in it that everybody may open. */
async function containerRuntime(t: ExecutionContext) {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'forge-runtime-')))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await chmod(root, 0o755)
  const folder = path.join(root, 'run')
  await mkdir(folder, { mode: 0o755 })
  const socket = path.join(folder, 'bus')
  const server = createServer(connection => connection.destroy()).listen(socket)
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.close())
  await chmod(socket, 0o777)
  return { folder, socket, runs: path.join(root, 'data', 'runs') }
}

test('sockets are searched for where the variables of the server’s user point', async t => {
  const { folder, socket } = await containerRuntime(t)
  const uid = 1_900_055_055
  for (const env of [
    { XDG_RUNTIME_DIR: folder },
    { DOCKER_HOST: `unix://${socket}` },
    { DBUS_SESSION_BUS_ADDRESS: `unix:path=${socket},guid=0123` },
    { SSH_AUTH_SOCK: socket },
    { TMUX: `${socket},1234,0` },
  ])
    t.true((await controlSockets(env, uid)).includes(socket), JSON.stringify(env))
  const elsewhere = {
    XDG_RUNTIME_DIR: 'run',
    DOCKER_HOST: 'tcp://127.0.0.1:2375',
    SSH_AUTH_SOCK: folder,
  }
  t.false((await controlSockets(elsewhere, uid)).some(found => found.startsWith(folder)))
})

if (holds.landlock === null)
  test('a socket that Landlock does not govern is named, with the remedy', async t => {
    const { socket, runs } = await containerRuntime(t)
    const isolation = await isolationAt(runs, 'landlock', { sockets: [socket] })
    t.deepEqual(isolation.reached, [socket])
    const told = describeIsolation(isolation)
    t.like(told, { mode: 'landlock', degraded: true })
    t.regex(
      told.notice ?? '',
      /^Runs can connect to \/.*\/bus,.*install bubblewrap, or run the server as/,
    )
    t.is(describeIsolation({ ...isolation, reached: [], gaps: [] }).notice, undefined)
  })

if (holds.bubblewrap === null)
  test('bubblewrap shows a socket only where its folder was opened', async t => {
    const { folder, socket, runs } = await containerRuntime(t)
    t.deepEqual((await isolationAt(runs, 'bubblewrap', { sockets: [socket] })).reached, [])
    const opened = await isolationAt(runs, 'bubblewrap', { sockets: [socket], readable: [folder] })
    t.deepEqual(opened.reached, [socket])
    t.regex(describeIsolation(opened).notice ?? '', /out of SERVICE_LOCAL_READABLE/)
  })

if (holds.user === null)
  test('for the users of runs, the permissions of the socket and its folder decide', async t => {
    const { folder, socket, runs } = await containerRuntime(t)
    const { reached, ...isolation } = await isolationAt(runs, 'user', { sockets: [socket] })
    t.deepEqual(reached, [socket])
    t.regex(describeIsolation({ ...isolation, reached }).notice ?? '', /restrict its permissions/)
    await chmod(folder, 0o700)
    t.deepEqual((await isolationAt(runs, 'user', { sockets: [socket] })).reached, [])
  })
