import type { Range } from '../platform/http/range.ts'
import type { DatasetReport, FileIndex, Progress, ValidationOptions } from './report.ts'
import type { Rows, Search } from './rows.ts'

/** The work of a thread; reading rows takes exactly one file. */
export type Task =
  | { type: 'validate'; options: ValidationOptions }
  | { type: 'rows'; index: FileIndex; page: { from: number; limit: number } }
  | { type: 'search'; index: FileIndex; search: Search }

export type Result = { validate: DatasetReport; rows: Rows; search: Rows }

export type ThreadFile = { name: string; size: number; split: string }
export type ThreadData = { task: Task; files: ThreadFile[] }

/** To the thread. `bytes`: null at the end of the stream. */
export type Sent = { stream: number; bytes: Uint8Array | null } | { stream: number; failed: string }

/** From the thread, which asks for the bytes of its files chunk by chunk. */
export type Said =
  | { type: 'open'; stream: number; file: number; range: Range | null }
  | { type: 'more'; stream: number }
  | { type: 'close'; stream: number }
  | { type: 'progress'; progress: Progress }
  | { type: 'done'; result: DatasetReport | Rows }
  | { type: 'failed'; message: string }
