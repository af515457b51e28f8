import type { DatasetFile, DatasetReport, Progress, ValidationOptions } from './report.ts'

/** As `validateFiles`, in a thread whose heap is limited; this thread only passes on the bytes of the files. */
export declare function validateInThread(
  files: readonly DatasetFile[],
  options: ValidationOptions,
  running: { signal: AbortSignal; progress: (progress: Progress) => void },
): Promise<DatasetReport>
