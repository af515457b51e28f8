import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const requirements = join(import.meta.dirname, 'requirements.txt')
const cache = join(import.meta.dirname, '../../node_modules/.cache/forge')

/** The Python of an environment with MLflow's own client, installed once for each list of requirements. */
export async function mlflowPython(): Promise<string> {
  const { stdout } = await run('python3', ['--version'])
  const wanted = createHash('sha256')
    .update(stdout)
    .update(await readFile(requirements))
  const folder = join(cache, `mlflow-${wanted.digest('hex').slice(0, 16)}`)
  const python = join(folder, 'bin/python')
  const isComplete = join(folder, 'complete')
  if (!(await access(isComplete).then(yes, no))) {
    // Left behind by a build that broke off.
    await rm(folder, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
    await writeFile(isComplete, '')
  }
  return python
}

const yes = () => true
const no = () => false
