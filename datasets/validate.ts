import { maxSplits } from './bounds.ts'
import { headerFault, rowOfCells } from './cells.ts'
import { type CsvRecord, readCsv } from './csv.ts'
import { ErrorList } from './error-list.ts'
import { Figures, type TokenCounter } from './figures.ts'
import { formatFault, formatOf } from './format.ts'
import { readJsonl } from './jsonl.ts'
import { kindOf, noKind, rowFault } from './kinds.ts'
import { Offsets } from './offsets.ts'
import { faultOf, readMetadata, readRowGroup } from './parquet.ts'
import type {
  DatasetFile,
  DatasetReport,
  FileIndex,
  Format,
  Kind,
  NamedTokenizer,
  Progress,
  ValidationOptions,
} from './report.ts'
import { tokenCounter } from './tokens.ts'

type Running = { signal: AbortSignal; progress: (progress: Progress) => void }

/** Bytes between two reports of progress. */
const progressBytes = 8 * 1024 * 1024

/**
 * Reads all files and reports their figures and the faults of their rows. Bounded memory; meant for a thread
 * (`in-thread.ts`), because it keeps the processor busy. Rejects with the signal's reason when it aborts, and
 * with the error of a file that cannot be read.
 */
export async function validateFiles(
  files: readonly DatasetFile[],
  options: ValidationOptions,
  running: Running,
): Promise<DatasetReport> {
  const validation = new Validation(files, options, running)
  for (const file of files) {
    running.signal.throwIfAborted()
    await validation.read(file)
  }
  return validation.report()
}

class Validation {
  readonly #errors = new ErrorList()
  readonly #figures: Figures
  readonly #running: Running
  readonly #bytes: number
  readonly #done: DatasetReport['files'] = []
  #format: Format | null = null
  #kind: Kind | null
  #read = 0
  #reported = 0

  constructor(
    files: readonly DatasetFile[],
    { kind, tokenizer }: ValidationOptions,
    running: Running,
  ) {
    this.#kind = kind
    this.#running = running
    this.#bytes = files.reduce((sum, { size }) => sum + size, 0)
    this.#figures = new Figures(tokenizer && this.#counter(tokenizer))
    if (new Set(files.map(({ split }) => split)).size > maxSplits)
      throw new Error(`a dataset has at most ${maxSplits} splits`)
  }

  #counter({ name, json }: NamedTokenizer): TokenCounter {
    try {
      return { name, count: tokenCounter(json) }
    } catch (error) {
      const why = error instanceof Error ? error.message : error
      this.#errors.add('tokenizer.json', 1, `the tokenizer cannot be used: ${why}`)
      return null
    }
  }

  async read(file: DatasetFile): Promise<void> {
    const found = formatOf(file.name)
    this.#format ??= found?.format ?? null
    if (!found) return this.#errors.add(file.name, 1, formatFault(file.name))
    if (found.format !== this.#format)
      return this.#errors.add(
        file.name,
        1,
        `a dataset has files of one format, and those before are ${this.#format}: convert this one`,
      )
    this.#figures.file(file.split, file.size)
    const rowsBefore = this.#figures.rows
    const errorsBefore = this.#errors.count
    const index = await this.#reading[found.format](file, found.delimiter)
    const rows = this.#figures.rows - rowsBefore
    if (rows === 0 && this.#errors.count === errorsBefore)
      this.#errors.add(file.name, 1, 'the file has no rows: add rows, or leave the file out')
    this.#done.push({ name: file.name, rows, bytes: file.size, index })
  }

  report(): DatasetReport {
    const order = new Map(this.#done.map(({ name }, at) => [name, at]))
    const placeOf = (file: string) => order.get(file) ?? this.#done.length
    return {
      format: this.#format,
      kind: this.#kind,
      bytes: this.#bytes,
      ...this.#figures.report(),
      errors: this.#errors.first.toSorted(
        (one, other) => placeOf(one.file) - placeOf(other.file) || one.line - other.line,
      ),
      error_count: this.#errors.count,
      files: this.#done,
    }
  }

  readonly #reading: Record<Format, (file: DatasetFile, delimiter: string) => Promise<FileIndex>> =
    {
      jsonl: file => this.#jsonl(file),
      csv: (file, delimiter) => this.#csv(file, delimiter),
      parquet: file => this.#parquet(file),
    }

  async #jsonl(file: DatasetFile): Promise<FileIndex> {
    const offsets = new Offsets()
    await readJsonl(await file.open(), {
      onRow: ({ row, fault, line, offset }) => {
        offsets.row(offset)
        if (row === null) this.#errors.add(file.name, line, fault)
        else this.#row(file, line, row)
        return true
      },
      onBytes: count => this.#progress(count),
      signal: this.#running.signal,
    })
    return { format: 'jsonl', every: offsets.every, offsets: offsets.offsets }
  }

  async #csv(file: DatasetFile, delimiter: string): Promise<FileIndex> {
    const offsets = new Offsets()
    let columns: string[] | null = null
    const onRecord = ({ cells, line, offset }: CsvRecord): boolean => {
      if (columns === null) {
        columns = cells
        return this.#header(file, cells, delimiter)
      }
      offsets.row(offset)
      this.#row(file, line, rowOfCells(columns, cells))
      return true
    }
    await readCsv(await file.open(), {
      delimiter,
      width: null,
      onRecord,
      onFault: (line, message) => this.#errors.add(file.name, line, message),
      onBytes: count => this.#progress(count),
      signal: this.#running.signal,
    })
    const index = { every: offsets.every, offsets: offsets.offsets }
    return { format: 'csv', ...index, columns: columns ?? [], delimiter }
  }

  /** Whether rows can be read by this header. */
  #header(file: DatasetFile, columns: string[], delimiter: string): boolean {
    const fields = Object.fromEntries(columns.map(column => [column, '']))
    const fault =
      headerFault(columns, delimiter) ??
      (this.#kind === null && kindOf(fields) === null ? noKind(columns) : null)
    if (fault !== null) this.#errors.add(file.name, 1, fault)
    return fault === null
  }

  async #parquet(file: DatasetFile): Promise<FileIndex> {
    const starts: number[] = []
    let first = 0
    try {
      const metadata = await readMetadata(file)
      for (const [at, group] of metadata.row_groups.entries()) {
        this.#running.signal.throwIfAborted()
        starts.push(first)
        const rows = await readRowGroup(file, metadata, at)
        for (const [place, row] of rows.entries()) this.#row(file, first + place + 1, row)
        first += Number(group.num_rows)
        this.#progress(Number(group.total_compressed_size ?? 0))
      }
    } catch (error) {
      this.#running.signal.throwIfAborted()
      this.#errors.add(file.name, first + 1, faultOf(error))
    }
    return { format: 'parquet', starts }
  }

  #row(file: DatasetFile, line: number, row: Record<string, unknown>): void {
    this.#kind ??= kindOf(row)
    const fault = this.#kind === null ? noKind(Object.keys(row)) : rowFault(this.#kind, row)
    if (fault !== null) this.#errors.add(file.name, line, fault)
    else if (this.#kind !== null) this.#figures.row(file.split, this.#kind, row)
  }

  #progress(count: number): void {
    this.#read += count
    if (this.#read - this.#reported < progressBytes) return
    this.#reported = this.#read
    this.#running.progress({
      bytes: Math.min(this.#read, this.#bytes),
      of: this.#bytes,
      rows: this.#figures.rows,
      errors: this.#errors.count,
    })
  }
}
