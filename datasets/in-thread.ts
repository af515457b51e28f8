import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import type {
  DatasetFile,
  DatasetReport,
  FileIndex,
  Progress,
  ValidationOptions,
} from './report.ts'
import type { Rows, Search } from './rows.ts'
import type { Result, Said, Sent, Task, ThreadData } from './thread-messages.ts'

/** In megabytes; a file that needs more to be read is refused. */
const heapLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 }

/** Reading the files takes more memory than a thread may have; damaged Parquet files can do that. */
export class TooMuchMemory extends Error {
  constructor() {
    super('the files need more than 1 GB of memory to be read: write smaller rows or row groups')
  }
}

/** `validateFiles` in a thread whose heap is limited; this thread only passes on the bytes of the files. */
export function validateInThread(
  files: readonly DatasetFile[],
  options: ValidationOptions,
  running: { signal: AbortSignal; progress: (progress: Progress) => void },
): Promise<DatasetReport> {
  return inThread(files, { type: 'validate', options }, running)
}

/** `readRows` in a thread: a page of a Parquet file may need a whole row group. */
export function readRowsInThread(
  file: DatasetFile,
  index: FileIndex,
  { signal, ...page }: { from: number; limit: number; signal: AbortSignal },
): Promise<Rows> {
  return inThread([file], { type: 'rows', index, page }, { signal, progress: () => undefined })
}

export function searchRowsInThread(
  file: DatasetFile,
  index: FileIndex,
  { signal, ...search }: Search & { signal: AbortSignal },
): Promise<Rows> {
  return inThread([file], { type: 'search', index, search }, { signal, progress: () => undefined })
}

type Running = { signal: AbortSignal; progress: (progress: Progress) => void }

async function inThread<T extends Task>(
  files: readonly DatasetFile[],
  task: T,
  { signal, progress }: Running,
): Promise<Result[T['type']]> {
  signal.throwIfAborted()
  const named = files.map(({ name, size, split }) => ({ name, size, split }))
  const thread = new Worker(new URL('thread.ts', import.meta.url), {
    workerData: { task, files: named } satisfies ThreadData,
    resourceLimits: heapLimits,
  })
  const sources = new Sources(files, thread)
  try {
    return await new Promise<Result[T['type']]>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      thread.on('error', error => reject(isOutOfMemory(error) ? new TooMuchMemory() : error))
      thread.on('exit', code => reject(new Error(`the thread ended with ${code}`)))
      thread.on('message', (said: Said) => {
        if (said.type === 'progress') progress(said.progress)
        else if (said.type === 'done') resolve(said.result as Result[T['type']])
        else if (said.type === 'failed') reject(sources.failure ?? new Error(said.message))
        else sources.heed(said)
      })
    })
  } finally {
    sources.close()
    await thread.terminate()
  }
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'

/** The open streams of files, from which the thread takes chunk by chunk. */
class Sources {
  /** The first error of a file that could not be read. */
  failure: Error | null = null
  readonly #files: readonly DatasetFile[]
  readonly #thread: Worker
  readonly #open = new Map<number, { stream: Readable; chunks: AsyncIterator<Buffer> }>()
  readonly #opening = new Map<number, Promise<void>>()
  #isClosed = false

  constructor(files: readonly DatasetFile[], thread: Worker) {
    this.#files = files
    this.#thread = thread
  }

  heed(said: Extract<Said, { type: 'open' | 'more' | 'close' }>): void {
    if (said.type === 'open') this.#opening.set(said.stream, this.#start(said))
    else if (said.type === 'more') void this.#more(said.stream)
    else this.#end(said.stream)
  }

  close(): void {
    this.#isClosed = true
    for (const stream of this.#open.keys()) this.#end(stream)
  }

  async #start({ stream: id, file, range }: Extract<Said, { type: 'open' }>): Promise<void> {
    try {
      const stream = await this.#files[file]?.open(range ?? undefined)
      if (!stream) throw new Error(`no file ${file}`)
      if (this.#isClosed) stream.destroy()
      else this.#open.set(id, { stream, chunks: stream[Symbol.asyncIterator]() })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  async #more(id: number): Promise<void> {
    await this.#opening.get(id)
    try {
      const { value } = (await this.#open.get(id)?.chunks.next()) ?? {}
      // A copy, because chunks of small files share a buffer, which cannot be handed over.
      const bytes = value ? new Uint8Array(value) : null
      this.#send({ stream: id, bytes }, bytes ? [bytes.buffer] : [])
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #send(sent: Sent, transferred: ArrayBuffer[] = []): void {
    if (!this.#isClosed) this.#thread.postMessage(sent, transferred)
  }

  #fail(stream: number, error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.failure ??= failure
    this.#send({ stream, failed: failure.message })
  }

  #end(id: number): void {
    this.#open.get(id)?.stream.destroy()
    this.#open.delete(id)
    this.#opening.delete(id)
  }
}
