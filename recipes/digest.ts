import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { sha256Of } from '../platform/files/content.ts'

/**
 * Identifies the exact content of a recipe: `sha256:` and the hash of a text with one line per file, `<sha256 of the
 * file>`, two spaces, the path with `/`, sorted by the bytes of the path. Excludes `__pycache__` and names that
 * start with a dot, at any depth. `docs/use/recipes.md` has an equivalent shell command.
 */
export async function recipeDigest(directory: string): Promise<string> {
  const files = await filesOf(directory, '')
  if (files.length === 0) throw new Error(`no files in ${directory}`)
  files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const listing = createHash('sha256')
  for (const file of files) {
    listing.update(`${await sha256Of(path.join(directory, file))}  ${file}\n`)
  }
  return `sha256:${listing.digest('hex')}`
}

/** Whether a recipe leaves out files or folders with this name. */
export const isLeftOut = (name: string): boolean => name.startsWith('.') || name === '__pycache__'

async function filesOf(directory: string, under: string): Promise<string[]> {
  const entries = await readdir(path.join(directory, under), { withFileTypes: true })
  const found: string[] = []
  for (const entry of entries) {
    if (isLeftOut(entry.name)) continue
    const name = path.posix.join(under, entry.name)
    // sha256sum escapes such names; links are refused below, because their target may be outside.
    if (/[\\\n\r]/.test(name)) throw new Error(`a recipe's file may not be called ${name}`)
    if (entry.isDirectory()) found.push(...(await filesOf(directory, name)))
    else if (entry.isFile()) found.push(name)
    else throw new Error(`a recipe may only contain files and folders: ${name}`)
  }
  return found
}
