import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { freePort } from '../../../platform/free-port.ts'
import { digestOf, storing, untilIs } from '../../artifacts/storing.ts'
import { proxyBetween } from '../../servers/broken-line.ts'
import { startForge } from '../../servers/forge.ts'
import { createRun } from '../../servers/runs.ts'
import { emptyFolder, python, reportingTo } from './scripts.ts'

test('log_artifact(upload=True) puts the file into the store, once for the same content', async t => {
  const forge = await startForge(t, { SERVICE_ROLES: 'command-api,relay,projector,query-api' })
  const { run_id, token } = await createRun(forge)
  const folder = await emptyFolder(t)
  const content = 'weights '.repeat(10_000)
  await writeFile(join(folder, 'model 1.pt'), content)
  const code = `
import os, forge
run = forge.init(monitor_hardware=False)
for _ in range(2):
    print(run.log_artifact("checkpoint", "model 1.pt", "torch", 3, upload=True)["artifact_id"])
`
  const script = python(t, `import os; os.chdir(${JSON.stringify(folder)})\n${code}`, {
    HOME: folder,
    FORGE_SPOOL_DIR: await emptyFolder(t),
    ...reportingTo(forge, { run_id, token }),
  })
  t.is((await script.ended).code, 0, script.err())
  const [first = '', second = ''] = script.out().trimEnd().split('\n')
  t.is(first, second)
  const artifact = await untilIs(forge, first, 'verified')
  t.is(artifact.size_bytes, content.length)
  t.regex(artifact.path, /^forge:.*model%201.pt$/)
  const { body } = await forge.call<string>('GET', `/api/artifacts/${first}/content`)
  t.is(body, content)
  const { rows } = await forge.pool.query('select count(*)::int as uploads from write.upload')
  t.is(rows[0].uploads, 1)
})

test('a large file is sent in pieces, and resumes after a dead process or a broken connection', async t => {
  const port = await freePort()
  const forge = await startForge(t, {
    SERVICE_ROLES: 'command-api,relay,projector,query-api',
    SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
  })
  const [size, piece] = [4_000_000, 500_000]
  const line = await proxyBetween(t, forge.url, 2_700_000, port)
  const run = await createRun(forge)
  const folder = await emptyFolder(t)
  const bytes = randomBytes(size)
  await writeFile(join(folder, 'model.pt'), bytes)

  // Left by a process that was killed after sending this much.
  const before = 1_300_000
  const sha256 = digestOf(bytes)
  const asked = { filename: 'model.pt', format: 'torch', size_bytes: size, sha256 }
  const { body: target } = await storing(forge, run).ask(asked)
  const sent = await fetch(target.url, {
    method: 'PUT',
    headers: { ...target.headers, 'content-range': `bytes 0-${before - 1}/${size}` },
    body: new Uint8Array(bytes.subarray(0, before)),
  })
  t.is(sent.status, 200)

  const code = `
import os, forge, forge.artifacts
os.chdir(${JSON.stringify(folder)})
forge.artifacts._PIECE_BYTES = ${piece}
run = forge.init(monitor_hardware=False)
print(run.log_artifact("checkpoint", "model.pt", "torch", 1, upload=True)["artifact_id"])
`
  const script = python(t, code, {
    HOME: folder,
    FORGE_SPOOL_DIR: await emptyFolder(t),
    ...reportingTo(forge, run),
  })
  t.is((await script.ended).code, 0, script.err())
  const artifact = await untilIs(forge, script.out().trim(), 'verified')
  t.is(artifact.sha256, sha256)
  t.true(artifact.path === target.path, 'it is the same upload')
  t.is(line.cut(), 1)
  t.true(line.bytes() < size + piece + 100_000, `${line.bytes()} bytes for ${size}`)
})
