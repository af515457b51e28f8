import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { createApi } from '../../../../clients/cli/api/client.ts'
import { fetchFile } from '../../../../clients/cli/artifacts/download.ts'
import { worldOf } from '../../../../clients/cli/program/session.ts'
import type { Artifact } from '../../../../schemas/artifacts/artifacts.ts'
import { until } from '../../../servers/until.ts'

test('a broken download continues at the same offset', async t => {
  const bytes = randomBytes(900_000)
  const starts: number[] = []
  const folder = await mkdtemp(join(tmpdir(), 'forge-download-'))
  const arrived = async () => (await stat(join(folder, 'model 1.pt.part'))).size
  const server = createServer(async (request, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1])
    starts.push(start)
    response.writeHead(206, { 'content-length': bytes.length - start })
    if (starts.length === 3) {
      response.end(bytes.subarray(start))
      return
    }
    response.write(bytes.subarray(start, start + 300_000))
    await until('some of it is on the disk', 30_000, async () => (await arrived()) > start)
    response.destroy()
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(async () => {
    server.close()
    await rm(folder, { recursive: true })
  })
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const artifact = {
    artifact_id: 'art_1',
    path: 'forge://run_1/upl_1/model%201.pt',
    size_bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  } as Artifact
  const session = {
    ...worldOf(process),
    api: createApi({ host, token: 'a token', userAgent: 'a test', onSlow: () => {} }),
    context: null,
    signedInUntil: null,
    isJson: false,
  }
  const { file } = await fetchFile(session, artifact, { output: folder, verify: true })
  t.is(file, join(folder, 'model 1.pt'))
  t.true((await readFile(file)).equals(bytes))
  t.deepEqual(await readdir(folder), ['model 1.pt'])
  const [first, second = 0, third = 0] = starts
  t.is(first, 0)
  t.true(second > 0 && third > second, `${starts}`)
})
