import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { validateInThread } from '../datasets/in-thread.ts'
import { seededRandom } from '../events/calculations/queue-forecast.ts'
import { number, toTable } from './rig/table.ts'

// Validates 1 GB of conversations as the server does, and reads the same bytes without looking at them for comparison.

const sizeBytes = Number(process.argv[2] ?? 1e9)
const folder = await mkdtemp(join(tmpdir(), 'forge-bench-datasets-'))
const path = join(folder, 'train.jsonl')

type Measured = { what: string; seconds: number; processor: number; memory: number; rows: number }

try {
  await pipeline(conversations(sizeBytes), createWriteStream(path))
  const { size } = await stat(path)
  const open = async () => createReadStream(path, { highWaterMark: 1024 * 1024 })
  const file = { name: 'train.jsonl', size, split: 'train', open }
  const readAlone = await measure('reading the bytes alone', async () => {
    for await (const _ of await open());
    return 0
  })
  const validation = await measure('validation', async () => {
    const report = await validateInThread(
      [file],
      { kind: null, tokenizer: null },
      { signal: new AbortController().signal, progress: () => undefined },
    )
    if (report.error_count > 0) throw new Error(JSON.stringify(report.errors[0]))
    return report.rows
  })
  console.log(
    toTable<Measured>(
      [readAlone, validation],
      [
        [`${number(size / 1e6)} MB of JSONL`, row => row.what],
        ['seconds', row => number(row.seconds, 1)],
        ['MB/s', row => number(size / 1e6 / row.seconds)],
        ['processor seconds', row => number(row.processor, 1)],
        ['more memory, MB', row => number(row.memory)],
        ['rows', row => number(row.rows)],
      ],
    ),
  )
} finally {
  await rm(folder, { recursive: true })
}

/** `memory`: the most that the process took more than before, sampled every 20 ms. */
async function measure(what: string, work: () => Promise<number>): Promise<Measured> {
  const before = process.memoryUsage.rss()
  let most = before
  const sampling = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 20)
  const start = performance.now()
  const used = process.cpuUsage()
  const rows = await work()
  const { user, system } = process.cpuUsage(used)
  clearInterval(sampling)
  return {
    what,
    seconds: (performance.now() - start) / 1000,
    processor: (user + system) / 1e6,
    memory: (most - before) / 1e6,
    rows,
  }
}

/** Different rows of about 1 kB; every fifth one is not ASCII. */
function* conversations(bytes: number): Generator<string> {
  const words = 'the model learns what a row says and not what its author meant by it'.split(' ')
  const accents = 'das Modell lernt, was die Zeile sagt – größere Sätze für 模型 auch'.split(' ')
  const next = seededRandom(1)
  const random = (below: number) => Math.floor(next() * below)
  const sentence = (from: readonly string[], length: number) =>
    Array.from({ length }, () => from[random(from.length)]).join(' ')
  for (let written = 0, id = 0; written < bytes; id++) {
    const from = id % 5 === 0 ? accents : words
    const messages = [
      { role: 'user', content: sentence(from, 10 + random(60)) },
      { role: 'assistant', content: `${id}: ${sentence(from, 20 + random(250))}\n"Done."` },
    ]
    const line = `${JSON.stringify({ id, messages, source: 'bench' })}\n`
    written += Buffer.byteLength(line)
    yield line
  }
}
