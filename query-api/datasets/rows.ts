import type { Static } from 'typebox'
import { readRowsInThread, searchRowsInThread } from '../../datasets/in-thread.ts'
import { splitOf } from '../../datasets/splits.ts'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { datasetRows, datasetRowsQuery } from '../../schemas/datasets/datasets.ts'
import type { VersionRow } from './record.ts'

export type Store = Pick<ObjectStore, 'sizeOf' | 'read'>
type Page = Static<typeof datasetRows>

/** How much of the files one search reads, in bytes. */
const scanBytes = 8 * 1024 * 1024

/** How long the rows of one file may take, in milliseconds. */
const pageMs = 20_000

/** A file of the split with the number of its first row in the split. */
type Part = Report['files'][number] & { first: number }

/** Rows of a split are numbered through its files, which follow each other by name. */
export async function pageOfRows(
  store: Store,
  version: VersionRow,
  { split: asked, from = 0, limit = 50, q }: Static<typeof datasetRowsQuery>,
): Promise<Page> {
  const { splits } = version
  const report = readyReport(version)
  const split = splitAsked(version, asked)
  const total = splits[split]?.rows ?? 0
  const wanted = { store, version, parts: partsOf(report, split), limit, q }
  const { rows, next } = await gather(wanted, from)
  return { split, splits: Object.keys(splits), total, rows, next: next < total ? next : null }
}

type Report = NonNullable<VersionRow['report']>

function readyReport({ ref, state, report }: VersionRow): Report {
  if (report !== null && state !== 'validating' && state !== 'invalid') return report
  throw new Refusal('conflict', `${ref} is ${state}; only the rows of ready versions can be read`, {
    code: 'dataset.not_ready',
  })
}

function splitAsked({ ref, splits }: VersionRow, asked: string | undefined): string {
  const names = Object.keys(splits)
  const split = asked ?? (names.includes('train') ? 'train' : (names[0] ?? 'train'))
  if (names.includes(split)) return split
  throw new Refusal('not_found', `${ref} has no split ${split}; it has ${names.join(', ')}`)
}

type Wanted = {
  store: Store
  version: VersionRow
  parts: readonly Part[]
  limit: number
  /** Undefined: every row. */
  q: string | undefined
}

/** `next`: the row after the last one that was read. A page of large rows ends early, and so does a long search. */
async function gather(wanted: Wanted, from: number): Promise<{ rows: Page['rows']; next: number }> {
  const rows: Page['rows'] = []
  let [next, scanned] = [from, 0]
  for (const part of wanted.parts) {
    const end = part.first + part.rows
    if (next >= end) continue
    if (rows.length >= wanted.limit || scanned >= scanBytes) break
    const page = { from: next - part.first, limit: wanted.limit - rows.length }
    const read = await readPart(wanted, part, { ...page, scanBytes: scanBytes - scanned })
    for (const { row, value } of read.rows)
      rows.push({ row: part.first + row, file: part.name, data: value })
    if (read.next !== null) return { rows, next: part.first + read.next }
    scanned += Math.ceil((part.bytes * (end - next)) / Math.max(1, part.rows))
    next = end
  }
  return { rows, next }
}

function readPart(
  { store, version: { ref, files }, q }: Wanted,
  part: Part,
  { scanBytes: most, ...page }: { from: number; limit: number; scanBytes: number },
) {
  const file = storedFile(store, ref, files, part)
  const signal = AbortSignal.timeout(pageMs)
  return q === undefined
    ? readRowsInThread(file, part.index, { ...page, signal })
    : searchRowsInThread(file, part.index, { ...page, text: q, scanBytes: most, signal })
}

function partsOf(report: Report, split: string): Part[] {
  let first = 0
  return report.files
    .filter(({ name }) => splitOf(name) === split)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(file => {
      const part = { ...file, first }
      first += file.rows
      return part
    })
}

function storedFile(
  store: Store,
  ref: string,
  files: VersionRow['files'],
  { name }: Pick<Part, 'name'>,
) {
  const { sha256 = '', size_bytes: size = 0 } = files.find(file => file.name === name) ?? {}
  return {
    ...{ name, size, split: splitOf(name) },
    async open(range?: { first: number; last: number }) {
      const stream = await store.read(sha256, range ?? null)
      if (!stream)
        throw new Refusal('backend_failed', `Forge's store has lost the file ${name} of ${ref}`, {
          code: 'artifact.lost',
        })
      return stream
    },
  }
}
