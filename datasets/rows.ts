import type { DatasetFile, FileIndex, Row } from './report.ts'

/** `next`: the row to continue from; null at the end of the file. */
export type Rows = { rows: Row[]; next: number | null }

/** Rows from this one on: at most `limit`, and fewer if they are more than 4 MB. */
export declare function readRows(
  file: DatasetFile,
  index: FileIndex,
  page: { from: number; limit: number },
): Promise<Rows>

/** Rows that contain this text in any of their values, whatever the case, among the next `scanBytes` of the file. */
export declare function searchRows(
  file: DatasetFile,
  index: FileIndex,
  page: { text: string; from: number; limit: number; scanBytes: number },
): Promise<Rows>
