import type { DatasetReport } from '../../schemas/datasets/report.ts'

/** In bytes, well below the limit of an event, whose other parts are small. */
const maxBytes = 448 * 1024
/** Entries of the indexes of all files, at first. */
const maxEntries = 20_000

type File = DatasetReport['files'][number]

/** A report that fits into an event: with fewer places in its indexes, fewer errors and fewer fields, if need be. */
export function fitReport(report: DatasetReport): DatasetReport {
  let fitted: DatasetReport = {
    ...report,
    files: thinned(report.files, maxEntries),
    errors: report.errors.map(error => ({ ...error, message: cut(error.message, 200) })),
  }
  for (let share = 2; bytesOf(fitted) > maxBytes; share *= 2) {
    if (share > maxEntries)
      return failedReport(
        report.files[0]?.name ?? '',
        'The files have too many row groups together',
      )
    fitted = {
      ...fitted,
      files: thinned(fitted.files, maxEntries / share),
      errors: fitted.errors.slice(0, Math.ceil(fitted.errors.length / 2)),
      schema: firstOf(fitted.schema, Math.ceil(Object.keys(fitted.schema).length / 2)),
    }
  }
  return fitted
}

const bytesOf = (report: DatasetReport) => Buffer.byteLength(JSON.stringify(report))
const cut = (text: string, length: number) => Array.from(text).slice(0, length).join('')
const firstOf = (fields: Record<string, string>, count: number) =>
  Object.fromEntries(
    Object.entries(fields)
      .slice(0, count)
      .map(([name, type]) => [cut(name, 200), type]),
  )

/** Leaves out every second place until there are few enough. Parquet's are row groups, which stay. */
function thinned(files: readonly File[], most: number): File[] {
  let thin = [...files]
  const entries = () =>
    thin.reduce((sum, { index }) => sum + ('offsets' in index ? index.offsets.length : 0), 0)
  for (let before = Number.POSITIVE_INFINITY; entries() > most && entries() < before; ) {
    before = entries()
    thin = thin.map(file => ({ ...file, index: everySecond(file.index) }))
  }
  return thin
}

const everySecond = (index: File['index']): File['index'] =>
  'offsets' in index && index.offsets.length > 1
    ? { ...index, every: index.every * 2, offsets: index.offsets.filter((_, nth) => nth % 2 === 0) }
    : index

/** The report on files whose validation could not be completed. */
export const failedReport = (file: string, message: string): DatasetReport => ({
  format: null,
  kind: null,
  rows: 0,
  bytes: 0,
  splits: {},
  schema: {},
  lengths: { min: 0, mean: 0, max: 0, buckets: [] },
  duplicates: 0,
  overlap: [],
  estimated: false,
  tokens: {},
  errors: [{ file, line: 1, message }],
  error_count: 1,
  files: [],
})
