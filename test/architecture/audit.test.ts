import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { auditNotes, summarize } from '../summary.ts'

const root = join(import.meta.dirname, '../..')

test('an audit that the registry does not offer is in the summary of .ci/run', async t => {
  const paths: string[] = []
  const mirror = createServer((req, res) => {
    paths.push(req.url ?? '')
    req.resume().on('end', () => res.writeHead(404).end('{"error":"not found"}'))
  })
  await new Promise<void>(resolve => mirror.listen(0, '127.0.0.1', resolve))
  t.teardown(() => mirror.close())
  const { port } = mirror.address() as AddressInfo
  const { stdout } = await promisify(execFile)(process.execPath, ['test/audit-dependencies.ts'], {
    cwd: root,
    env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/` },
  })
  t.true(
    paths.some(path => path.includes('/security/')),
    'the registry was asked',
  )
  t.regex(stdout, /^npm audit: NOT CHECKED, because the registry gave no report \(.+\)$/m)

  const counts = { passed: 1, failed: 0, failures: [], minutes: 1, slowest: [] }
  const notes = auditNotes({ FORGE_TEST_AUDIT: stdout.trimEnd() })
  t.true(summarize({ ...counts, notes }).includes(`\n${stdout.trimEnd()}\n1.0 minutes\n`))
  t.deepEqual(auditNotes({}), [])
  t.regex(await readFile(join(root, '.ci/run'), 'utf8'), /^FORGE_TEST_AUDIT=\$audit npm test$/m)
})
