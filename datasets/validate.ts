import type { DatasetFile, DatasetReport, Progress, ValidationOptions } from './report.ts'

type Running = { signal: AbortSignal; progress: (progress: Progress) => void }

/**
 * Reads all files and reports what is in them, with the faults of their rows. Bounded memory; meant for a thread
 * (`validation-thread.ts`), because it keeps the processor busy. Rejects with the signal's reason when it aborts, and
 * with the error of a file that cannot be read.
 */
export declare function validateFiles(
  files: readonly DatasetFile[],
  options: ValidationOptions,
  running: Running,
): Promise<DatasetReport>
