import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '../../node_modules/.cache/forge')

const built = new Map<string, Promise<string>>()

/** The Python of an environment with these packages, installed once for each list of requirements. */
export function pythonWith(requirements: string): Promise<string> {
  const python = built.get(requirements) ?? build(requirements)
  built.set(requirements, python)
  return python
}

/** Tests in several processes may build it at once: each in its own folder, and one of these is kept. */
async function build(requirements: string): Promise<string> {
  const { stdout } = await run('python3', ['--version'])
  const wanted = createHash('sha256')
    .update(stdout)
    .update(await readFile(requirements))
  const folder = join(cache, `python-${wanted.digest('hex').slice(0, 16)}`)
  if (!(await isThere(folder))) {
    await mkdir(cache, { recursive: true })
    const own = await mkdtemp(`${folder}-`)
    await run('python3', ['-m', 'venv', own])
    const install = ['-m', 'pip', 'install', '--quiet', '--requirement', requirements]
    await run(join(own, 'bin/python'), install)
    await rename(own, folder).catch(async error => {
      await rm(own, { recursive: true, force: true })
      if (!(await isThere(folder))) throw error
    })
  }
  return join(folder, 'bin/python')
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )
