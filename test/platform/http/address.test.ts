import { link, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { Client } from 'undici'
import { connectOptions, parseAddress, socketAddress } from '../../../platform/http/address.ts'

async function folderOf(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp('/tmp/forge-test-address-')
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function serverAt(t: ExecutionContext, path: string): Promise<void> {
  const server = createServer((request, response) => response.end(`at ${request.headers.host}`))
  await new Promise<void>(resolve => server.listen(path, resolve))
  t.teardown(() => server.close())
}

async function said(path: string): Promise<string> {
  const address = parseAddress(socketAddress(path))
  const client = new Client(address.origin, { connect: connectOptions(address, 2_000) })
  try {
    const { body } = await client.request({ path: '/', method: 'GET' })
    return await body.text()
  } finally {
    await client.destroy()
  }
}

test('an address is that of a host with a path, or of a socket', t => {
  t.deepEqual(parseAddress('http://10.0.0.7:8000/engine/'), {
    ...{ origin: 'http://10.0.0.7:8000', host: '10.0.0.7:8000', prefix: '/engine', socket: null },
  })
  t.deepEqual(parseAddress(socketAddress('/data/a b/engine.sock')), {
    ...{ origin: 'http://localhost', host: 'localhost', prefix: '' },
    socket: '/data/a b/engine.sock',
  })
  for (const wrong of ['unix:relative', 'ftp://host', 'file:///etc/passwd', 'nothing', ''])
    t.throws(() => parseAddress(wrong), undefined, wrong)
})

test('requests pass through a socket, whose path may be longer than that of an address of the system', async t => {
  const folder = await folderOf(t)
  await serverAt(t, join(folder, 'a.sock'))
  const long = join(folder, 'x'.repeat(200))
  await link(join(folder, 'a.sock'), long)
  t.is(await said(join(folder, 'a.sock')), 'at localhost')
  t.is(await said(long), 'at localhost')
})

test('nobody who owns the folder of a socket can lead requests to another socket or file', async t => {
  const folder = await folderOf(t)
  await serverAt(t, join(folder, 'control.sock'))
  await symlink(join(folder, 'control.sock'), join(folder, 'linked.sock'))
  await writeFile(join(folder, 'file.sock'), '')
  await t.throwsAsync(said(join(folder, 'linked.sock')), { code: 'ENOTSOCK' })
  await t.throwsAsync(said(join(folder, 'file.sock')), { code: 'ENOTSOCK' })
  await t.throwsAsync(said(join(folder, 'none.sock')), { code: 'ENOENT' })
})
