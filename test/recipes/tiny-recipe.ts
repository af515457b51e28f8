import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { stringify } from 'yaml'

export const tinyFile = {
  name: 'tiny',
  version: '1.2.0',
  title: 'A recipe for tests',
  framework: { name: 'none', version: '1', runtime_id: 'rt_tiny' },
  entrypoint: 'train.py',
  params_schema: {
    properties: {
      lr: { type: 'number', exclusiveMinimum: 0 },
      steps: { type: 'integer', default: 3 },
    },
    required: ['lr'],
    additionalProperties: false,
  },
  params_default: { lr: 0.1 },
}

export async function folder(t: ExecutionContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'forge-recipe-'))
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))
  return directory
}

/** Writes a recipe's folder; values other than texts are written as YAML. */
export async function writeRecipe(
  directory: string,
  files: Record<string, unknown>,
): Promise<string> {
  const all: Record<string, unknown> = {
    'recipe.yaml': tinyFile,
    'train.py': 'print(1)\n',
    ...files,
  }
  for (const [name, content] of Object.entries(all)) {
    const file = path.join(directory, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, typeof content === 'string' ? content : stringify(content))
  }
  return directory
}

/** Makes a wheel of an empty package, so that pip installs something real without a network. */
export function makeWheel(directory: string, name: string): void {
  const program = `
import sys, zipfile
directory, name = sys.argv[1:]
info = name + "-1.0.dist-info/"
with zipfile.ZipFile(directory + "/" + name + "-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr(name + "/__init__.py", "answer = 42\\n")
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: " + name + "\\nVersion: 1.0\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
`
  execFileSync('python3', ['-c', program, directory, name])
}
