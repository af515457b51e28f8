import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// `npm run repeats`: lists passages that occur more than once in the tree. A pair is worth a look, but not always a fault.

/** `from` and `to` are numbers of lines, the first line being 1. */
type Place = { file: string; from: number; to: number }
/** Two passages of the same shape; `lines` is how many lines they share. */
type Repeat = { lines: number; first: Place; second: Place }
type Text = { file: string; text: string }

/** Shorter passages are idioms. */
const fewestLines = 6
/** Fewer distinct lines are a table: the same call again and again. */
const fewestShapes = 3

const sourceFile = /\.(?:tsx?|py|css|html|sh)$/

const keywords = new Set(
  `and as async await break case catch class const continue def default delete del do elif else enum except export
   extends false finally for from function get if implements import in instanceof interface is lambda let new not null
   of or pass raise readonly return satisfies static super switch this throw true try type typeof undefined var void
   while with yield None True False`.split(/\s+/),
)

const token =
  /\/\/.*|\/\*.*?\*\/|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|[A-Za-z_$][\w$]*|\d[\w.]*|[^\s\w]/g

const plain = String.raw`(?:[\w$.]+|'[^']*'|"[^"]*")`
const lazyImport = String.raw`\(\) => import\('[^']*'\)`
/** An item of a list, or a field with a plain value or a module: a declaration, which shared code cannot replace. */
const entry = new RegExp(String.raw`^${plain}(?:: (?:${plain}|${lazyImport}|\[[^\[\]()]*\]))?,?$`)

const importHead = /^(?:import\b|from \S+ import\b)/
const isComment = (line: string) => /^(?:\/\/|#)/.test(line)

/**
 * A line without its strings, numbers and names. Keywords, members and keys remain: a copy renames its variables but still
 * calls the same methods.
 */
export function shapeOf(line: string): string {
  const parts = (line.match(token) ?? []).filter(part => !/^\/[/*]/.test(part))
  const blanked = (part: string, nth: number): string => {
    if (/^['"`]/.test(part)) return "''"
    if (/^\d/.test(part)) return '0'
    const isKept = keywords.has(part) || parts[nth - 1] === '.' || parts[nth + 1] === ':'
    return /^[\w$]/.test(part) && !isKept ? 'x' : part
  }
  return parts.map(blanked).join(' ')
}

/** The end of a comment or import that continues on the next lines; null if it ends on this one. */
function openedBy(line: string): RegExp | null {
  if (line.startsWith('/*') && !line.includes('*/')) return /\*\//
  if (line.startsWith('<!--') && !line.includes('-->')) return /-->/
  if (!importHead.test(line)) return null
  if (line.endsWith('{')) return /\bfrom\b/
  return line.endsWith('(') ? /\)/ : null
}

const isPassedOver = (line: string) =>
  !/\w/.test(line) || isComment(line) || importHead.test(line) || entry.test(line)

type Line = { at: number; shape: string }

/** The relevant lines, by shape. */
export function linesIn(text: string): Line[] {
  const found: Line[] = []
  let end: RegExp | null = null
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (end) {
      if (end.test(line)) end = null
      continue
    }
    end = openedBy(line)
    if (end || isPassedOver(line)) continue
    const shape = shapeOf(line)
    if (/\w/.test(shape)) found.push({ at: index + 1, shape })
  }
  return found
}

type Spot = { nth: number; line: number }
/** The windows that two files share at the same distance in lines. */
type Diagonal = { a: number; b: number; shift: number; starts: number[] }

/** The places of each sequence of `fewestLines` shapes. */
function windowsOf(files: readonly Line[][]): Map<string, Spot[]> {
  const windows = new Map<string, Spot[]>()
  for (const [nth, lines] of files.entries())
    for (let line = 0; line + fewestLines <= lines.length; line++) {
      const shapes = lines.slice(line, line + fewestLines).map(({ shape }) => shape)
      if (new Set(shapes).size < fewestShapes) continue
      const key = shapes.join('\n')
      const spots = windows.get(key)
      if (spots) spots.push({ nth, line })
      else windows.set(key, [{ nth, line }])
    }
  return windows
}

function* pairsOf(spots: readonly Spot[]): Generator<[Spot, Spot]> {
  for (const [index, a] of spots.entries())
    for (const b of spots.slice(index + 1))
      if (a.nth !== b.nth || b.line - a.line >= fewestLines) yield [a, b]
}

function diagonalsOf(windows: Iterable<Spot[]>): Diagonal[] {
  const diagonals = new Map<string, Diagonal>()
  for (const spots of windows)
    for (const [a, b] of pairsOf(spots)) {
      const shift = b.line - a.line
      const key = `${a.nth} ${b.nth} ${shift}`
      const diagonal = diagonals.get(key)
      if (diagonal) diagonal.starts.push(a.line)
      else diagonals.set(key, { a: a.nth, b: b.nth, shift, starts: [a.line] })
    }
  return [...diagonals.values()]
}

/** Joins windows that begin on consecutive lines into one passage: its first and its last window. */
function stretchesOf(starts: readonly number[]): [first: number, last: number][] {
  const stretches: [number, number][] = []
  for (const start of [...starts].sort((a, b) => a - b)) {
    const open = stretches.at(-1)
    if (open && start === open[1] + 1) open[1] = start
    else stretches.push([start, start])
  }
  return stretches
}

/** All pairs of passages of the same shape, the longest first. */
export function repeatsIn(texts: readonly Text[]): Repeat[] {
  const files = texts.map(({ text }) => linesIn(text))
  const placeOf = (nth: number, first: number, last: number): Place => ({
    file: texts[nth]?.file ?? '',
    from: files[nth]?.[first]?.at ?? 0,
    to: files[nth]?.[last]?.at ?? 0,
  })
  return diagonalsOf(windowsOf(files).values())
    .flatMap(({ a, b, shift, starts }) =>
      stretchesOf(starts).map(([first, start]) => {
        const last = start + fewestLines - 1
        return {
          lines: last - first + 1,
          first: placeOf(a, first, last),
          second: placeOf(b, first + shift, last + shift),
        }
      }),
    )
    .sort((a, b) => b.lines - a.lines || (inWords(a) < inWords(b) ? -1 : 1))
}

const inWords = ({ lines, first, second }: Repeat): string =>
  `${lines} lines: ${[first, second].map(({ file, from, to }) => `${file}:${from}-${to}`).join(' ~ ')}`

const folderOf = ({ file }: Place): string =>
  file.includes('/') ? file.slice(0, file.indexOf('/')) : '.'

/** The number of pairs, by the folder of the first passage, and the longest pairs. */
export function reportOf(repeats: readonly Repeat[], most = 10): string {
  const byFolder = [...Map.groupBy(repeats, ({ first }) => folderOf(first))]
    .map(([folder, own]) => ({ folder, count: own.length }))
    .sort((a, b) => b.count - a.count || (a.folder < b.folder ? -1 : 1))
  return [
    `${repeats.length} pairs of repeated passages`,
    ...byFolder.map(({ folder, count }) => `${String(count).padStart(5)} ${folder}`),
    ...repeats.slice(0, most).map(inWords),
  ].join('\n')
}

/** The source files that git tracks, with their content in the working tree. */
export function trackedSources(root: string): Text[] {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  return listed
    .split('\0')
    .filter(file => sourceFile.test(file) && existsSync(join(root, file)))
    .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
}

if (import.meta.main)
  process.stdout.write(`${reportOf(repeatsIn(trackedSources(join(import.meta.dirname, '..'))))}\n`)
