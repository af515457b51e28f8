import { createHash } from 'node:crypto'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { push, untilValidated } from '../datasets/pushing.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { emptyFolder, script } from './python.ts'

const theForge = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

test('a download that breaks off half way is continued where it stopped', async t => {
  t.timeout(patient(400_000), 'the client is installed first')
  const forge = await theForge()
  // The client stores downloads in steps of 10 MiB.
  const content = Array.from({ length: 240 }, (_, row) =>
    JSON.stringify({ text: `${row} ${'x'.repeat(100_000)}` }),
  ).join('\n')
  await push(forge, 'admin/large', { 'train.jsonl': content })
  await untilValidated(forge, 'admin/large')
  const half = Math.floor(content.length / 2)
  const proxy = await cuttingProxy(t, forge.url, half)
  const hub = { HF_ENDPOINT: `${proxy.url}/api/hub`, HF_TOKEN: forge.token }
  const wanted = { REPO: 'admin/large', TYPE: 'dataset', REVISION: 'main' }
  const call = ['snapshot.py', await emptyFolder(t)]
  t.deepEqual(await script(t, call, { ...hub, ...wanted }), {
    'train.jsonl': createHash('sha256').update(content).digest('hex'),
  })
  const [first, second, ...more] = proxy.answers
  t.deepEqual([first?.range, first?.status], [undefined, 200])
  t.is(second?.status, 206)
  const from = Number(/^bytes=(\d+)-$/.exec(second?.range ?? '')?.[1])
  t.true(from > 0 && from <= half, `continued at ${from} of ${content.length}`)
  t.deepEqual(more, [])
})

type Answered = { range: string | undefined; status: number | undefined }

/** Passes requests on, but ends the connection of the first download after so many bytes. */
async function cuttingProxy(t: ExecutionContext, target: string, most: number) {
  const answers: Answered[] = []
  const server = createServer((asked, answer) => {
    const passed = request(`${target}${asked.url}`, {
      method: asked.method ?? 'GET',
      headers: { ...asked.headers, host: new URL(target).host },
    })
    passed.once('response', found => {
      answer.writeHead(found.statusCode ?? 502, found.headers)
      if (asked.method !== 'GET' || !asked.url?.includes('/resolve/')) {
        found.pipe(answer)
        return
      }
      answers.push({ range: asked.headers.range, status: found.statusCode })
      if (answers.length > 1) {
        found.pipe(answer)
        return
      }
      let sent = 0
      found.on('data', (chunk: Buffer) => {
        const part = chunk.subarray(0, most - sent)
        sent += part.length
        answer.write(part, () => sent >= most && answer.destroy())
      })
    })
    asked.pipe(passed)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers }
}
