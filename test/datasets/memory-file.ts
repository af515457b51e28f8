import { Readable } from 'node:stream'
import type { DatasetFile, DatasetReport, ValidationOptions } from '../../datasets/report.ts'
import { splitOf } from '../../datasets/splits.ts'
import { validateFiles } from '../../datasets/validate.ts'

/** A file whose bytes come in small chunks, so that lines and characters are cut anywhere. */
export function memoryFile(name: string, content: string | Uint8Array, chunk = 7): DatasetFile {
  const bytes = Buffer.from(content)
  return {
    name,
    size: bytes.length,
    split: splitOf(name),
    open: async range => {
      const part = range ? bytes.subarray(range.first, range.last + 1) : bytes
      return Readable.from(chunksOf(part, chunk), { objectMode: false })
    },
  }
}

function* chunksOf(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export const validated = (
  files: DatasetFile[],
  options: Partial<ValidationOptions> = {},
): Promise<DatasetReport> =>
  validateFiles(
    files,
    { kind: null, tokenizer: null, ...options },
    { signal: new AbortController().signal, progress: () => undefined },
  )

export const lines = (...rows: unknown[]): string =>
  rows.map(row => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')
