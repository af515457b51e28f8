import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { root } from './sources.ts'

const foreign = new Set(['node_modules', 'coverage'])

/** Every path of the repository, folders with a slash at the end. */
export const paths: readonly string[] = list(root)

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (foreign.has(entry.name) || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    const name = relative(root, path).split(sep).join('/')
    return entry.isDirectory() ? [`${name}/`, ...list(path)] : [name]
  })
}
