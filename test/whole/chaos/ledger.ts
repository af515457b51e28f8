import { type FileHandle, open, readFile } from 'node:fs/promises'
import type { Operation } from './operations.ts'

/**
 * `ok`: acknowledged, so it must be stored. `failed`: refused, or never reached the server, so it must not be.
 * `unknown`: no response, or one that promises nothing (503), so it may be.
 */
export type Outcome = 'ok' | 'failed' | 'unknown'

export type Entry =
  | { op: number; sent: Operation }
  | { op: number; outcome: Outcome; answer: string }

export type Ledger = {
  /** Resolves when the entry is on disk: an operation is sent only after that. */
  write(entry: Entry): Promise<void>
  close(): Promise<void>
}

/** Appends entries to a file; entries that arrive during one fsync share the next. */
export async function openLedger(path: string): Promise<Ledger> {
  const file = await open(path, 'a')
  let waiting: { text: string; resolve(): void; reject(error: unknown): void }[] = []
  let flushing: Promise<void> | null = null

  const flush = async () => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await appendDurably(file, batch.map(({ text }) => text).join(''))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    flushing = null
  }

  return {
    write: entry =>
      new Promise((resolve, reject) => {
        waiting.push({ text: `${JSON.stringify(entry)}\n`, resolve, reject })
        flushing ??= flush()
      }),
    async close() {
      await flushing
      await file.close()
    },
  }
}

async function appendDurably(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text)
  await file.datasync()
}

/** All entries in writing order; ignores a last line cut off by a crash. */
export async function readLedger(path: string): Promise<Entry[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  return lines.slice(0, -1).map(line => JSON.parse(line) as Entry)
}
