import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'

/**
 * The rules of one ignore file, for paths below `base`. Rules and paths are Latin-1 strings of their bytes, because `?` stands
 * for one byte in git. Upper and lower case differ, whatever the disk says: the package is unpacked on Linux.
 */
export type RuleSet = { base: string; rules: Ignore }

/** Read in every folder, in this order; later rules count more. Both are written like .gitignore. */
const ignoreFiles = ['.gitignore', '.forgeignore']

/** Files that no program needs from another machine. A `!name` in an ignore file includes them anyway. */
const usuallyLeftOut = [
  ...['.git', '.hg', '.svn', '.forge', '.venv', 'venv', 'node_modules', '.DS_Store'],
  ...['__pycache__', '.ipynb_checkpoints', '.pytest_cache', '.mypy_cache', '.ruff_cache'],
]

export const builtInRules = (): RuleSet => ruleSet('', usuallyLeftOut, () => 'usually left out')

/** The rules in the ignore files of one folder, in their order. */
export async function rulesIn(folder: string, under: string): Promise<RuleSet[]> {
  const sets: RuleSet[] = []
  for (const name of ignoreFiles) {
    const path = under === '' ? name : `${under}/${name}`
    const text = await readFile(join(folder, path), 'latin1').catch(() => null)
    if (text === null) continue
    const lines = text.replace(utf8Mark, '').split(/\r?\n/)
    const base = under === '' ? '' : `${latin1Of(under)}/`
    sets.push(ruleSet(base, lines, (line, at) => `${path}:${at + 1}: ${utf8Of(line)}`))
  }
  return sets
}

/** Why a path is left out; null: it belongs to the project. The last matching rule decides, as in git. */
export function whyLeftOut(
  sets: readonly RuleSet[],
  path: string,
  isFolder: boolean,
): string | null {
  if (/(^|\/)\.git$/.test(path)) return 'never packed'
  const wanted = latin1Of(isFolder ? `${path}/` : path)
  let why: string | null = null
  for (const { base, rules } of sets) {
    const { ignored, unignored, rule } = rules.test(wanted.slice(base.length))
    if (ignored) why = rule?.mark ?? ''
    if (unignored) why = null
  }
  if (isFolder && why === null) for (const set of sets) takeBack(set, wanted)
  return why
}

/** A set that ignores a folder ignores everything in it, also if a later set has taken the folder back. */
function takeBack({ base, rules }: RuleSet, folder: string): void {
  const path = folder.slice(base.length)
  if (rules.test(path).ignored) rules.add({ pattern: `!/${path.replaceAll(/[^\w/]/g, '\\$&')}` })
}

/** The byte order mark of UTF-8, which git skips. */
const utf8Mark = /^\u00ef\u00bb\u00bf/

const latin1Of = (text: string) => Buffer.from(text).toString('latin1')
const utf8Of = (bytes: string) => Buffer.from(bytes, 'latin1').toString()

function ruleSet(
  base: string,
  lines: readonly string[],
  markOf: (line: string, at: number) => string,
): RuleSet {
  const patterns = lines.map((line, at) => ({ pattern: line, mark: markOf(line, at) }))
  return { base, rules: ignore({ ignorecase: false }).add(patterns) }
}
