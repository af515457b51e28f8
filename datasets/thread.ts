import { Readable } from 'node:stream'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { DatasetFile, DatasetReport } from './report.ts'
import { type Rows, readRows, searchRows } from './rows.ts'
import type { Said, Sent, ThreadData, ThreadFile } from './thread-messages.ts'
import { validateFiles } from './validate.ts'

/** In bytes: what a stream holds before it stops asking for more. */
const highWaterMark = 1024 * 1024

// The thread started by in-thread.ts: does one task and ends.
if (parentPort) await run(parentPort, workerData)

async function run(port: MessagePort, data: ThreadData): Promise<void> {
  const say = (said: Said) => port.postMessage(said)
  const streams = receiveStreams(port, say)
  const files = data.files.map((file, at) => fileOf(file, at, streams))
  try {
    say({ type: 'done', result: await perform(data.task, files, say) })
  } catch (error) {
    say({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  }
  port.close()
}

async function perform(
  task: ThreadData['task'],
  files: DatasetFile[],
  say: (said: Said) => void,
): Promise<DatasetReport | Rows> {
  const [file] = files
  if (task.type === 'validate') {
    const progress = (made: Extract<Said, { type: 'progress' }>['progress']) =>
      say({ type: 'progress', progress: made })
    return validateFiles(files, task.options, { signal: new AbortController().signal, progress })
  }
  if (!file) throw new Error('rows are read from one file')
  return task.type === 'rows'
    ? readRows(file, task.index, task.page)
    : searchRows(file, task.index, task.search)
}

type Streams = (file: number, range: Extract<Said, { type: 'open' }>['range']) => Readable

function fileOf(file: ThreadFile, at: number, streams: Streams): DatasetFile {
  return { ...file, open: async range => streams(at, range ?? null) }
}

function receiveStreams(port: MessagePort, say: (said: Said) => void): Streams {
  const streams = new Map<number, Readable>()
  let opened = 0
  port.on('message', (sent: Sent) => {
    const stream = streams.get(sent.stream)
    if ('failed' in sent) stream?.destroy(new Error(sent.failed))
    else stream?.push(sent.bytes && Buffer.from(sent.bytes.buffer))
  })
  return (file, range) => {
    const id = opened++
    const stream = new Readable({
      highWaterMark,
      read: () => say({ type: 'more', stream: id }),
      destroy: (error, done) => {
        streams.delete(id)
        say({ type: 'close', stream: id })
        done(error)
      },
    })
    streams.set(id, stream)
    say({ type: 'open', stream: id, file, range })
    return stream
  }
}
