import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { type CsvError, type CsvErrorCode, type Parser, parse } from 'csv-parse'
import { maxLineBytes } from './bounds.ts'
import { whereInvalid } from './json-line.ts'
import { LineSplitter } from './lines.ts'

/** `line`: on which the record begins, from 1; `offset`: of its first byte. Both count from the stream's beginning. */
export type CsvRecord = { cells: string[]; line: number; offset: number }

type CsvReading = {
  delimiter: string
  /** Cells of a record; null to take the number of the first one. */
  width: number | null
  /** Whether to read on. */
  onRecord: (record: CsvRecord) => boolean
  onFault: (line: number, message: string) => void
  onBytes: (count: number) => void
  signal: AbortSignal | null
}

/** Reads records. After a fault of quotes nothing more is read, because nobody can know where the next record begins. */
export async function readCsv(stream: Readable, reading: CsvReading): Promise<void> {
  const state = { isDone: false, line: 1, offset: 0, width: reading.width }
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_records_with_error: true,
    max_record_size: maxLineBytes,
    record_delimiter: ['\r\n', '\n'],
    delimiter: reading.delimiter,
    on_record: (cells: string[], { lines, bytes }: { lines: number; bytes: number }) => {
      if (!state.isDone) takeRecord(cells, state, reading)
      state.line = lines + 1
      state.offset = bytes
      return null
    },
    on_skip: error => {
      if (!state.isDone && error) reading.onFault(state.line, quoteFault(error, state.line))
      state.isDone = true
      return undefined
    },
  })
  await feed(stream, parser, { reading, isDone: () => state.isDone })
}

type State = { isDone: boolean; line: number; offset: number; width: number | null }

function takeRecord(cells: string[], state: State, reading: CsvReading): void {
  const { line, offset } = state
  state.width ??= cells.length
  if (cells.length === state.width) state.isDone = !reading.onRecord({ cells, line, offset })
  else reading.onFault(line, raggedFault(cells, state.width))
}

async function feed(
  stream: Readable,
  parser: Parser,
  { reading, isDone }: { reading: CsvReading; isDone: () => boolean },
): Promise<void> {
  const encoding = checkEncoding(reading.onFault)
  const ended = once(parser.resume(), 'end')
  // A failure is thrown by the awaits below.
  ended.catch(() => undefined)
  try {
    for await (const chunk of stream) {
      reading.signal?.throwIfAborted()
      encoding.write(chunk)
      reading.onBytes(chunk.length)
      if (!parser.write(chunk)) await once(parser, 'drain')
      if (isDone()) return
    }
    encoding.end()
    parser.end()
    await ended
  } finally {
    stream.destroy()
    parser.destroy()
  }
}

/** The parser replaces bytes that are not UTF-8 without a word. */
function checkEncoding(onFault: CsvReading['onFault']): LineSplitter {
  let line = 0
  return new LineSplitter(bytes => {
    line++
    if (bytes && !isUtf8(bytes))
      onFault(line, `not UTF-8${whereInvalid(bytes)}: save the file as UTF-8`)
  })
}

function raggedFault(cells: string[], width: number): string {
  if (cells.length === 1 && cells[0]?.trim() === '') return 'empty line: remove it'
  const advice =
    cells.length > width
      ? 'put a value that holds the separator in double quotes'
      : 'write the separator for an empty value as well'
  return `${cells.length} ${cells.length === 1 ? 'value' : 'values'} for ${width} columns: ${advice}`
}

const quoteFaults: Partial<Record<CsvErrorCode, string>> = {
  CSV_QUOTE_NOT_CLOSED:
    'a double quote is opened in this row and never closed: close it; the rows from here were not read',
  CSV_INVALID_CLOSING_QUOTE:
    'text follows a closing double quote: write a quote inside a value twice (""); the rows from here were not read',
  INVALID_OPENING_QUOTE:
    'a double quote inside a value that has no quotes around it: put the value in quotes and write the inner one twice (""); the rows from here were not read',
  CSV_MAX_RECORD_SIZE: `a row has at most ${maxLineBytes / 1024 / 1024} MB; this one is longer, perhaps for want of a closing quote; the rows from here were not read`,
}

const quoteFault = (error: CsvError, line: number): string =>
  quoteFaults[error.code] ?? `the row that begins on line ${line} cannot be read: ${error.message}`
