import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { untilIs } from '../../artifacts/storing.ts'
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
