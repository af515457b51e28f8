import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { patient } from '../../servers/patience.ts'

const client = join(import.meta.dirname, '../../../clients/python')

test("the Python client's own tests pass", async t => {
  t.timeout(patient(400_000))
  const { stderr } = await promisify(execFile)('python3', ['-m', 'unittest', 'discover'], {
    cwd: client,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  })
  const [, count] = /^Ran (\d+) tests/m.exec(stderr) ?? []
  t.true(Number(count) >= 80, stderr)
})
