import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withQuery } from '../api/client.ts'
import { exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pathIn } from '../program/process.ts'
import type { Session, Texts } from '../program/session.ts'

export type ExportOptions = Texts<'export' | 'keys' | 'output'>

/**
 * Every point of a run, as the server sends it: to a new file, or to stdout. Streamed piece by piece, no faster
 * than it is taken.
 */
export async function exportMetrics(
  session: Session,
  base: string,
  { export: format, keys, output }: ExportOptions,
): Promise<void> {
  if (format !== 'csv' && format !== 'jsonl')
    throw usageFailure(`--export ${format}: give csv or jsonl`)
  await saveFile(session, withQuery(`${base}/export`, { format, keys }), output)
}

/** A file as the server sends it: to a new file, or to stdout. */
export async function saveFile(
  { api, process }: Pick<Session, 'api' | 'process'>,
  path: string,
  output?: string,
): Promise<void> {
  const { body } = await api.open(path, { accept: '*/*' }, new AbortController().signal)
  if (body === null) throw new Failure(exitCode.unavailable, 'The server sent nothing')
  const bytes = Readable.from(body)
  await (output === undefined
    ? pipeline(bytes, process.stdout, { end: false })
    : pipeline(bytes, createWriteStream(pathIn(process, output), { flags: 'wx' }))
  ).catch(error => {
    throw failureOf(error, output)
  })
}

function failureOf(error: NodeJS.ErrnoException, output: string | undefined): Error {
  // stdout is broken; output.ts has ended the command.
  if (output === undefined && error.syscall === 'write') return error
  if (error.code === 'EEXIST') return usageFailure(`${output} already exists`)
  if (error.code === 'ENOENT' || error.code === 'EACCES' || error.code === 'ENOSPC')
    return new Failure(exitCode.refused, `${output} could not be written: ${error.message}`)
  return new Failure(exitCode.unavailable, `The export broke off: ${error.message}`)
}
