import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comments, tokens } from './sources.ts'
import { paths, read } from './tree.ts'

// `npm run english`: lists turns of phrase that a native speaker would not use. `-- --record` stores how many there are.

/** `find` sees prose only. Line breaks are white space; a null character stands for each character of code. */
export type Pattern = { name: string; find: RegExp }
/** `line` counts from 1. */
export type Hit = { name: string; file: string; line: number; text: string }

const opening = String.raw`(?<=(?:^|\0|[.:;!?]["')]?\s|\|\s|[-*]\s)\s*)`
const words = (least: number, most: number) => String.raw`(?:[\w'’-]+\s+){${least},${most}}`

const pattern = (name: string, { source, flags }: RegExp): Pattern => ({
  name,
  // A phrase may continue on the next line.
  find: new RegExp(source.replaceAll(' ', String.raw`\s+`), flags),
})
const composed = (source: string, flags = 'g') => new RegExp(source, flags)

export const patterns: readonly Pattern[] = [
  pattern('a sentence opens with "Of"', composed(`${opening}Of (?!course)`)),
  pattern(
    'a sentence opens with a pronoun',
    composed(
      String.raw`${opening}(?:Those of|(?:Those|Ones?|The ones?) (?:that|who|whom|which|whose|with|without|in|on|at|for|from|by))\b`,
    ),
  ),
  pattern('those that', /\bthose (?:that|who|which|whose)\b/g),
  pattern('one that', /\b(?:the|an?|every|each|only) ?ones? (?:that|of|who|which|whose)\b/g),
  pattern('what it is', /\bwhat (?:is|are|was|were|has|it|they|he|she|one)\b(?!\?)/gi),
  pattern('whoever', /\b(?:who|whom|which)(?:so)?ever\b/gi),
  pattern(
    'tell',
    composed(
      String.raw`\b(?:tell|tells|told|telling)\b(?! ${words(0, 4)}apart\b)(?! apart\b)`,
      'gi',
    ),
  ),
  pattern('go on', /\b(?:go|goes|went|gone) on\b/gi),
  pattern('for ever', /\bfor ever\b/gi),
  pattern('beside', /\bbeside\b/gi),
  pattern(
    'is to',
    /(?<!\b(?:aim|purpose|job|point|way|idea|goal|task|remedy|fix|it|next step) )\b(?:is|are|was|were)(?: not)? to (?!(?:the|an?|its|their|this|that|each|every)\b)\w+/g,
  ),
  pattern(
    'answers for returns',
    /\b(?:answers|answered|answering) (?:with|the|an?|nothing|only|before|after|at|within|for|from|that|as|each|every|it|its|null|true|false|in|to|by|instead|how|what|where|no|not|again|later|\d|x)/gi,
  ),
  pattern('mend', /\bmend(?:s|ed|ing)?\b/gi),
  pattern('foretell', /\bforet(?:ell|ells|old|elling)\b/gi),
  pattern('let … be', composed(String.raw`\blets? ${words(1, 4)}be\b`, 'gi')),
  pattern('by itself', /\bby (?:itself|themselves)\b/gi),
  pattern('for good', /\bfor good\b(?! reason)/gi),
  // A noun makes it plain English: "as disks do".
  pattern(
    'as it does',
    /(?<!\b(?:soon|long|far|much|often|many|insofar) )\bas (?:it|they|he|she) (?:does|do|did|is|are|was|were)\b/g,
  ),
  pattern(
    'inversion',
    /\b(?:none any more|of which there|(?:has|have|had) been there|(?:is|are) there already|(?<!there )(?:is|are) none)\b/gi,
  ),
  pattern('take away', /\b(?:take|takes|took|taken|taking) (?:[\w']+ ){0,3}away\b/gi),
  pattern('look after', /\blook(?:s|ed|ing)? after\b/gi),
  pattern('at all', /(?<!\bnot )\bat all\b(?! (?:times|depths|levels|hops|costs))/gi),
  pattern('such a', /\bsuch an?\b/gi),
  pattern('as it were', /\b(?:as it were|so to speak)\b/gi),
  pattern('so without a noun', /\b(?:is|are|was|were|it|them|this) so(?=\s*(?:[.,;:\0]|$))/g),
  pattern(
    'of its own',
    composed(String.raw`\ban? ${words(1, 3)}of (?:its|their|his|her) own\b`, 'gi'),
  ),
  pattern(
    'an archaic word',
    /\b(?:anew|in vain|naught|nought|thereof|therein|thereby|whence|lest|henceforth|hitherto|wholly|thereupon)\b/gi,
  ),
]

const prosePages = /\.(?:tsx?|py|md)$/
/** Third-party texts, recorded bytes, and build output. */
const foreign = /(?:^|\/)(?:golden|dist|build)\/|^docs\/reference\/licences\.md$/

/** Titles of tests: the first argument, if it is a text. */
const titles =
  /(?<=\btest(?:\.\w+)?\(\s*)(?:'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/g

const pythonTokens =
  /(?<=(?:^|\n)[ \t]*)[rf]?("""|''')[\s\S]*?\1|("""|''')[\s\S]*?\2|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*/g

const blank = (text: string, by: string): string => text.replace(/[^\n]/g, by)

/** The text with a null character for everything outside the passages; positions and lines stay. */
function only(text: string, passages: Iterable<{ index: number; prose: string }>): string {
  let shown = ''
  for (const { index, prose } of passages) {
    if (index < shown.length) continue
    shown += blank(text.slice(shown.length, index), '\0') + prose
  }
  return shown + blank(text.slice(shown.length), '\0')
}

/** Text in backticks is code, but it takes the place of a noun. */
const withoutCode = (prose: string): string => prose.replace(/`[^`\n]*`/g, code => blank(code, 'x'))

const commentMarks = /^\/\*+|\*\/$|^\s*\*(?!\/)|^\s*\/\/+|^\s*#+/gm

function typescript(text: string): string {
  const found = [
    ...[...text.matchAll(tokens)]
      .filter(([token]) => comments.test(token))
      .map(({ index, 0: token }) => ({
        index,
        prose: withoutCode(token.replace(commentMarks, mark => blank(mark, ' '))),
      })),
    ...[...text.matchAll(titles)].map(({ index, 0: title }) => ({
      index,
      prose: `\0${title.slice(1, -1)}\0`,
    })),
  ]
  return joined(
    only(
      text,
      found.sort((a, b) => a.index - b.index),
    ),
  )
}

/** Comments on consecutive lines are one text: the indentation between them is not code. */
const joined = (prose: string): string =>
  prose.replace(/(?<=[^\0\n]\n)\0+(?= {2}[^\0])/g, indent => blank(indent, ' '))

function python(text: string): string {
  const found = [...text.matchAll(pythonTokens)]
    .filter(({ 0: token, 1: quotes }) => quotes || token.startsWith('#'))
    .map(({ index, 0: token, 1: quotes }) => ({
      index,
      prose: withoutCode(
        quotes
          ? token.replace(/^.?"""|"""$/g, mark => blank(mark, ' '))
          : token.replace(/^#+/, mark => blank(mark, ' ')),
      ),
    }))
  return joined(only(text, found))
}

const markdown = (text: string): string =>
  withoutCode(
    text
      .replace(/^( *)(```|~~~)[\s\S]*?^\1\2/gm, block => blank(block, '\0'))
      .replace(/(?<=\])\([^)\n]*\)/g, target => blank(target, 'x')),
  )

/** The prose of a file: comments, docstrings and titles of tests, or the text of a page. Lines stay where they are. */
export function proseOf(file: string, text: string): string {
  if (file.endsWith('.md')) return markdown(text)
  return file.endsWith('.py') ? python(text) : typescript(text)
}

export function hitsIn(file: string, text: string): Hit[] {
  const prose = proseOf(file, text)
  return patterns.flatMap(({ name, find }) =>
    [...prose.matchAll(find)].map(({ index }) => {
      const line = prose.slice(0, index).split('\n').length
      return { name, file, line, text: text.split('\n')[line - 1]?.trim() ?? '' }
    }),
  )
}

export const hitsInTree = (): Hit[] =>
  paths
    .filter(file => prosePages.test(file) && !foreign.test(file))
    .flatMap(file => hitsIn(file, read(file)))

export const countsOf = (hits: readonly Hit[]): Record<string, number> =>
  Object.fromEntries(
    patterns.map(({ name }) => [name, hits.filter(hit => hit.name === name).length]),
  )

/** Says where the counts differ from the stored ones: each rise with all its hits, and each fall. */
export function differences(
  hits: readonly Hit[],
  stored: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(countsOf(hits)).flatMap(([name, count]) => {
    const before = stored[name] ?? 0
    if (count < before)
      return [`"${name}" has fallen from ${before} to ${count}: run npm run english -- --record`]
    if (count === before) return []
    const own = hits.filter(hit => hit.name === name).map(inWords)
    return [[`"${name}" has risen from ${before} to ${count}:`, ...own].join('\n  ')]
  })
}

const inWords = ({ name, file, line, text }: Hit): string => `${file}:${line}: [${name}] ${text}`

if (import.meta.main) {
  const hits = hitsInTree()
  if (process.argv.includes('--record')) {
    const path = join(import.meta.dirname, 'english-counts.json')
    writeFileSync(path, `${JSON.stringify(countsOf(hits), null, 2)}\n`)
  } else process.stdout.write(hits.map(hit => `${inWords(hit)}\n`).join(''))
}
