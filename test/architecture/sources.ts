import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** `code`: the text without its comments; `imports`: files of ours, from the root of the repository. */
export type Source = {
  file: string
  text: string
  code: string
  lines: number
  imports: readonly string[]
}

/** A text in quotes, a regular expression or a comment; only comments are removed. */
export const tokens =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g

export const comments = /^\/[/*]/

export const withoutComments = (text: string): string =>
  text.replace(tokens, token => (comments.test(token) ? ' ' : token))

/** The content of a template is text, even if it looks like an import. */
const templates = /`(?:\\.|[^`\\])*`/g

const references = [
  /\b(?:from|import) '(\.{1,2}\/[^']+)'/g,
  /\bimport\(\s*'(\.{1,2}\/[^']+)'\s*\)/g,
  /\bnew URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g,
  /\bjoin\(\s*import\.meta\.dirname,\s*'([^']+\.ts)'/g,
]

/** All references of a file to our files: imports of values and of types, dynamic imports, and threads. */
export const specifiersIn = (code: string): string[] =>
  references.flatMap(reference => [...code.matchAll(reference)].map(([, name]) => String(name)))

/** Folders without our own sources. */
const foreign = new Set(['node_modules', 'coverage', 'dist', 'golden'])

/** The folders at the root that hold TypeScript; new ones are included automatically. */
export const folders: readonly string[] = readdirSync(root, { withFileTypes: true })
  .filter(entry => entry.isDirectory() && !entry.name.startsWith('.') && !foreign.has(entry.name))
  .map(entry => entry.name)
  .filter(folder => walk(join(root, folder)).length > 0)

export const sources: readonly Source[] = [
  join(root, 'main.ts'),
  ...folders.flatMap(folder => walk(join(root, folder))),
].map(path => {
  const text = readFileSync(path, 'utf8')
  return sourceOf(relative(root, path), text)
})

/** Sources in other languages; only their length is checked. */
export const otherSources: readonly Pick<Source, 'file' | 'lines'>[] = folders
  .flatMap(folder => walk(join(root, folder), /\.(py|html|css|m?js)$/))
  .map(path => ({
    file: relative(root, path),
    lines: readFileSync(path, 'utf8').split('\n').length - 1,
  }))

export function sourceOf(file: string, text: string): Source {
  const code = withoutComments(text)
  const imports = specifiersIn(code.replace(templates, '``')).map(specifier =>
    join(file, '..', specifier),
  )
  return { file, text, code, lines: text.split('\n').length - 1, imports: [...new Set(imports)] }
}

function walk(folder: string, name = /\.tsx?$/): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (foreign.has(entry.name) || entry.name.startsWith('.')) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return walk(path, name)
    return name.test(entry.name) ? [path] : []
  })
}
