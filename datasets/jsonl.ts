import type { Readable } from 'node:stream'
import { maxLineBytes } from './bounds.ts'
import { type Parsed, parseLine } from './json-line.ts'
import { eachChunk, isUtf16, LineSplitter, startsWithBom, withoutCarriageReturn } from './lines.ts'

export type LineRow = Parsed & { line: number; offset: number }

export const utf16Fault = 'the file is UTF-16: save it as UTF-8'
const tooLong = `a line has at most ${maxLineBytes / 1024 / 1024} MB; this one is longer`
const listFault =
  'the file is one JSON list: write each of its objects on a line of its own, without brackets and commas'

/** Calls `onRow` for each line until it returns false, and `onBytes` for how many bytes have been read. */
export async function readJsonl(
  stream: Readable,
  { onRow, onBytes, signal }: JsonlReading,
): Promise<void> {
  let line = 0
  let isEnough = false
  const splitter = new LineSplitter((bytes, offset) => {
    line++
    if (isEnough) return
    const parsed = parsedLine(bytes, offset)
    isEnough = !onRow({ ...parsed, line, offset }) || isWholeFileWrong(parsed)
  })
  await eachChunk(stream, signal, chunk => {
    splitter.write(chunk)
    onBytes(chunk.length)
    return !isEnough
  })
  if (!isEnough) splitter.end()
}

type JsonlReading = {
  onRow: (row: LineRow) => boolean
  onBytes: (count: number) => void
  signal: AbortSignal | null
}

function parsedLine(bytes: Buffer | null, offset: number): Parsed {
  if (bytes === null) return { row: null, fault: tooLong }
  if (offset === 0 && isUtf16(bytes)) return { row: null, fault: utf16Fault }
  const line = withoutCarriageReturn(bytes)
  if (offset !== 0) return parseLine(line)
  const first = startsWithBom(line) ? line.subarray(3) : line
  return isListStart(first) ? { row: null, fault: listFault } : parseLine(first)
}

/** The other lines would have the same fault. */
const isWholeFileWrong = ({ fault }: Parsed) => fault === utf16Fault || fault === listFault

/** `[`, or `[{…},`. A whole list on the first line is a row that is no object. */
function isListStart(line: Buffer): boolean {
  const text = line.subarray(0, 64).toString('latin1').trim()
  return (
    text.startsWith('[') &&
    (text === '[' || line.subarray(-8).toString('latin1').trim().endsWith(','))
  )
}
