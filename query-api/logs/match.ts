import { RE2JS, RE2JSSyntaxException } from 're2js'
import { holdsText } from '../../platform/lines/line-block.ts'
import type { LogLine } from '../../schemas/logs.ts'
import { Invalid } from '../../schemas/validate.ts'

export type LineFilter = {
  grep?: string
  /** In RE2 syntax, whose matching time is linear in the text for every pattern. */
  regex?: string
  node?: string
  rank?: number
  attempt?: number
  stream?: string
}

export type Matcher = {
  /** Whether a line has the requested origin and text. */
  isWanted(line: LogLine): boolean
  /** Whether a line has the requested origin. */
  isFrom(line: LogLine): boolean
  /** Whether a stored row may contain a matching line; false is definite, and much cheaper than checking its lines. */
  mayHold(row: Buffer): boolean
  /** Maximum rows a search reads before it returns its findings; a stored row has about 128 KiB of text. */
  maxRows: number
}

const maxRows = 512
/**
 * Maximum instructions of a pattern, which bound its time per character: at this limit, 64 KiB take a tenth of a
 * second.
 */
const maxInstructions = 200
const maxRepeat = 100
/** A pattern that is short enough for all rows. */
const fastInstructions = 40

/** 422 for a pattern that cannot be read. */
export function matcherOf(filter: LineFilter): Matcher {
  const { grep, regex } = filter
  const isFrom = (line: LogLine) => hasOrigin(line, filter)
  const pattern = regex === undefined ? null : compile(regex)
  const needle = grep === undefined ? null : Buffer.from(grep)
  return {
    isFrom,
    isWanted: line =>
      isFrom(line) &&
      (grep === undefined || line.text.includes(grep)) &&
      (pattern === null || pattern.test(line.text)),
    mayHold: row => needle === null || holdsText(row, needle),
    maxRows: pattern === null ? maxRows : rowsFor(pattern),
  }
}

const hasOrigin = (line: LogLine, { node, rank, attempt, stream }: LineFilter): boolean =>
  (node === undefined || line.node === node) &&
  (rank === undefined || line.rank === rank) &&
  (attempt === undefined || line.attempt === attempt) &&
  (stream === undefined || line.stream === stream)

const rowsFor = (pattern: RE2JS): number =>
  Math.max(
    4,
    Math.min(maxRows / 2, Math.floor((maxRows / 2) * (fastInstructions / pattern.programSize()))),
  )

function compile(text: string): RE2JS {
  // Repeats are expanded before the size of the program is known.
  const repeats = [...text.matchAll(/\{(\d+),?(\d*)\}/g)].flatMap(([, least, most]) => [
    least,
    most,
  ])
  if (repeats.some(count => Number(count) > maxRepeat))
    throw badPattern(text, 'it is too large; repeat less in it')
  try {
    const pattern = RE2JS.compile(text)
    if (pattern.programSize() <= maxInstructions) return pattern
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    throw badPattern(text, `${error.getDescription()}: ${error.getPattern()}`)
  }
  throw badPattern(text, 'it is too large; repeat less in it')
}

const badPattern = (input: string, why: string) =>
  new Invalid([
    {
      loc: ['query', 'regex'],
      msg: `Not a regular expression: ${why}`,
      type: 'value_error',
      input,
    },
  ])
