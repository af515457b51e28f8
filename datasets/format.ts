import type { Format } from './report.ts'

const formats: Record<string, { format: Format; delimiter: string }> = {
  jsonl: { format: 'jsonl', delimiter: '' },
  ndjson: { format: 'jsonl', delimiter: '' },
  csv: { format: 'csv', delimiter: ',' },
  tsv: { format: 'csv', delimiter: '\t' },
  parquet: { format: 'parquet', delimiter: '' },
}

/** By the ending of its name; null for any other. */
export function formatOf(name: string): { format: Format; delimiter: string } | null {
  return formats[endingOf(name)] ?? null
}

const endingOf = (name: string) => /\.([^./]+)$/.exec(name.toLowerCase())?.[1] ?? ''

const advice: Record<string, string> = {
  json: 'write each row on a line of its own and name the file .jsonl',
  gz: 'decompress it',
  zst: 'decompress it',
  zip: 'decompress it',
  xlsx: 'export it as CSV',
  txt: 'write each text as {"text": "…"} on a line of its own and name the file .jsonl',
}

export const formatFault = (name: string): string =>
  `the name must end in .jsonl, .csv, .tsv or .parquet: ${advice[endingOf(name)] ?? 'convert the file'}`
