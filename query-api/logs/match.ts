import { RE2JS, RE2JSSyntaxException } from 're2js'
import { holdsText } from '../../platform/lines/line-block.ts'
import type { LogLine } from '../../schemas/logs.ts'
import { Invalid } from '../../schemas/validate.ts'

export type LineFilter = {
  grep?: string
  /** In the syntax of RE2, whose time grows with the text alone, whatever somebody asks for. */
  regex?: string
  node?: string
  rank?: number
  attempt?: number
  stream?: string
}

export type Matcher = {
  /** Whether a line has the origin and the text that are asked for. */
  isWanted(line: LogLine): boolean
  /** Whether it has the origin. */
  isFrom(line: LogLine): boolean
  /** Whether a stored row can have such a line; false is certain, and much cheaper than its lines. */
  mayHold(row: Buffer): boolean
  /** How much a search reads at most before it returns what it found, in stored rows of about 128 KiB of text. */
  maxRows: number
}

const maxRows = 512
/** Instructions of a pattern, as many as its time for a character can be: 64 KiB then take a tenth of a second. */
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
  // Each repeat is written out before its size is known.
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
