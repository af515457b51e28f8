import type { Static } from 'typebox'
import { readRows, searchRows } from '../../datasets/rows.ts'
import { splitOf } from '../../datasets/splits.ts'
import type { ObjectStore } from '../../platform/objects/port.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { datasetRows, datasetRowsQuery } from '../../schemas/datasets/datasets.ts'
import type { VersionRow } from './record.ts'

export type Store = Pick<ObjectStore, 'sizeOf' | 'read'>
type Page = Static<typeof datasetRows>

/** How much of the files one search reads, in bytes, before it answers with what it found so far. */
const scanBytes = 8 * 1024 * 1024

/** A file of the split with the number of its first row in the split. */
type Part = NonNullable<VersionRow['report']>['files'][number] & { first: number }

/** Rows of a split are numbered through its files, which follow each other by name. */
export async function pageOfRows(
  store: Store,
  { ref, state, report, files, splits }: VersionRow,
  { split: asked, from = 0, limit = 50, q }: Static<typeof datasetRowsQuery>,
): Promise<Page> {
  if (report === null || state === 'validating' || state === 'invalid')
    throw new Refusal('conflict', `${ref} is ${state}; only the rows of ready versions can be read`, {
      code: 'dataset.not_ready',
    })
  const names = Object.keys(splits)
  const split = asked ?? (names.includes('train') ? 'train' : (names[0] ?? 'train'))
  if (!names.includes(split))
    throw new Refusal('not_found', `${ref} has no split ${split}; it has ${names.join(', ')}`)
  const parts = partsOf(report, split)
  const page = { split, splits: names, total: splits[split]?.rows ?? 0 }
  const rows: Page['rows'] = []
  let next: number | null = from
  let scanned = 0
  while (next !== null && rows.length < limit && scanned < scanBytes) {
    const at: number = next
    const part = parts.find(({ first, rows: count }) => at < first + count)
    if (!part) {
      next = null
      break
    }
    const file = storedFile(store, ref, files, part)
    const local = { from: Math.max(0, at - part.first), limit: limit - rows.length }
    const read = await (q === undefined
      ? readRows(file, part.index, local)
      : searchRows(file, part.index, { ...local, text: q, scanBytes: scanBytes - scanned }))
    rows.push(
      ...read.rows.map(({ row, value }) => ({
        ...{ row: part.first + row, file: part.name, data: value },
      })),
    )
    const end = part.first + part.rows
    const reached: number = read.next === null ? end : part.first + read.next
    scanned += Math.ceil((part.bytes * Math.max(1, reached - at)) / Math.max(1, part.rows))
    // A page of large rows ends early, and so does a search.
    const isCut = read.next !== null
    next = reached <= at ? end : reached
    if (isCut) break
  }
  return { ...page, rows, next: next !== null && next < page.total ? next : null }
}

function partsOf(report: NonNullable<VersionRow['report']>, split: string): Part[] {
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
  { name, bytes }: Pick<Part, 'name' | 'bytes'>,
) {
  const sha256 = files.find(file => file.name === name)?.sha256 ?? ''
  return {
    ...{ name, size: bytes, split: splitOf(name) },
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
