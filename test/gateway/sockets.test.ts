import { mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { socketAddress } from '../../platform/http/address.ts'
import { say } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { openStage, type Stage } from './stage.ts'

// Engines on the machine of the gateway listen on Unix sockets.

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp('/tmp/forge-test-sockets-')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function engineAt(t: ExecutionContext, path: string, how: RequestListener): Promise<Server> {
  const server = createServer(how)
  await new Promise<void>(resolve => server.listen(path, resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

const asking = (stage: Stage, token: string) => async (body: string | null) => {
  const response = await fetch(`${stage.url}/inference/dep_a/v1/chat`, {
    method: body === null ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
  })
  return { status: response.status, text: await response.text() }
}

test('requests reach an engine at its socket, and an engine whose socket is gone is skipped', async t => {
  t.timeout(patient(60_000))
  const folder = await folderOf(t)
  const stage = await openStage(t)
  const one = join(folder, 'one.sock')
  await engineAt(t, one, (request, response) => {
    response.writeHead(200, { 'x-host': request.headers.host })
    request.pipe(response)
  })
  const gone = socketAddress(join(folder, 'gone.sock'))
  await stage.tables.deploy('dep_a', 'rev_a', [gone, socketAddress(one)])
  const ask = asking(stage, (await stage.tables.token('dep_a')).token)
  for (let time = 0; time < 10; time++) t.deepEqual(await ask(null), { status: 200, text: '' })
  const large = 'x'.repeat(1_000_000)
  t.is((await ask(large)).text, large)
})

test('an engine that replaces its socket by a link reaches no other socket through the gateway', async t => {
  t.timeout(patient(60_000))
  const folder = await folderOf(t)
  const stage = await openStage(t)
  const heard: string[] = []
  await engineAt(t, join(folder, 'control.sock'), (request, response) => {
    heard.push(request.url ?? '')
    response.end('controlled')
  })
  const own = join(folder, 'own.sock')
  const engine = await engineAt(t, own, say('genuine'))
  await stage.tables.deploy('dep_a', 'rev_a', [socketAddress(own)])
  const ask = asking(stage, (await stage.tables.token('dep_a')).token)
  t.is((await ask(null)).text, 'genuine')
  await rename(own, join(folder, 'moved.sock'))
  await symlink(join(folder, 'control.sock'), own)
  engine.closeAllConnections()
  const { status, text } = await until('its connection has ended', 10_000, async () => {
    const said = await ask(null)
    return said.status !== 200 && said
  })
  t.is(status, 502, text)
  t.deepEqual(heard, [])
})

test('connections to engines that have ended are closed', async t => {
  t.timeout(patient(60_000))
  const folder = await folderOf(t)
  const stage = await openStage(t)
  const connections = (server: Server) =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  const path = (name: string) => join(folder, `${name}.sock`)
  const old = await engineAt(t, path('old'), say('old'))
  // Kept open by the engine, as by one that was given up while it hangs.
  old.keepAliveTimeout = 600_000
  await engineAt(t, path('new'), say('new'))
  await stage.tables.deploy('dep_a', 'rev_old', [socketAddress(path('old'))])
  const ask = asking(stage, (await stage.tables.token('dep_a')).token)
  t.is((await ask(null)).text, 'old')
  t.is(await connections(old), 1)
  await stage.tables.change(client =>
    client.query(
      `update write.replica_route set is_ready = false, epoch = (select epoch from write.serving_epoch)
        where revision_id = 'rev_old'`,
    ),
  )
  await stage.tables.deploy('dep_a', 'rev_new', [socketAddress(path('new'))])
  t.is((await ask(null)).text, 'new')
  await until('it has no connection', 10_000, async () => (await connections(old)) === 0)
})
