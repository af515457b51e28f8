import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Artifact, storedName } from '../../../schemas/artifacts/artifacts.ts'
import { isInStore } from '../../../schemas/artifacts/in-store.ts'
import { segment } from '../api/client.ts'
import { exitCode, Failure, usageFailure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { type Process, pathIn } from '../program/process.ts'
import type { Session } from '../program/session.ts'
import { size } from '../terminal/amounts.ts'

/** Failed requests in a row without progress. */
const maxFailures = 6
/** Silence of the server that counts as a broken connection. */
const silenceMs = 60_000

type Wanted = { output?: string; resume?: boolean; verify?: boolean }
type Fetched = { file: string; size_bytes: number; resumed_from: number; verified: boolean }

/**
 * Fetches the bytes of an artifact into `FILE.part`, which is renamed once it is whole. A broken connection is
 * reopened at the same offset.
 */
export async function fetchFile(
  session: Session,
  artifact: Artifact,
  { output, resume = false, verify = false }: Wanted,
): Promise<Fetched> {
  const { path, size_bytes: total } = artifact
  if (!isInStore(path) || total === null)
    throw new Failure(
      exitCode.conflict,
      `The artifact is not in the server's store; it is at ${path}`,
    )
  const { process } = session
  const file = await fileFor(process, artifact, output)
  const existing = await sizeOf(pathIn(process, file))
  if (existing !== null && !(resume && existing === total))
    throw usageFailure(`${file} already exists`)
  const part = existing === null ? `${file}.part` : file
  const began = resume ? Math.min((await sizeOf(pathIn(process, part))) ?? 0, total) : 0
  if (existing === null) await fetchRest(session, artifact, { part, at: began, total, file })
  if (verify) await refuseOtherBytes(process, artifact, part)
  if (existing === null) await rename(pathIn(process, part), pathIn(process, file))
  return { file, size_bytes: total, resumed_from: began, verified: verify }
}

/** By default in the current folder, under the name with which it was sent. */
async function fileFor(
  process: Process,
  { artifact_id, path }: Artifact,
  output: string | undefined,
) {
  const name = (storedName(path) ?? artifact_id).replaceAll(/[\p{Cc}\p{Cf}/\\]/gu, '_')
  if (output === undefined) return name
  const found = await stat(pathIn(process, output)).catch(missing)
  return found?.isDirectory() ? join(output, name) : output
}

type Rest = { part: string; at: number; total: number; file: string }

async function fetchRest(session: Session, artifact: Artifact, rest: Rest): Promise<void> {
  const path = pathIn(session.process, rest.part)
  const handle = await open(path, rest.at === 0 ? 'w' : 'r+').catch(error => {
    throw unwritable(rest.part, error)
  })
  try {
    await handle.truncate(rest.at)
    let { at } = rest
    for (let failures = 0; at < rest.total; ) {
      const { reached, error } = await fetchOnce(session, artifact, { ...rest, at, handle })
      failures = reached > at ? 1 : failures + 1
      at = reached
      if (at >= rest.total) break
      if (!isWorthRepeating(error) || failures === maxFailures) throw withHint(error, at)
      await pause(100 * 2 ** failures)
    }
    await handle.sync()
  } finally {
    session.terminal.status(null)
    await handle.close()
  }
}

/** Writes the bytes of one request; returns the offset reached and the reason for the end. */
async function fetchOnce(
  session: Session,
  artifact: Artifact,
  { handle, ...rest }: Rest & { handle: FileHandle },
): Promise<{ reached: number; error: unknown }> {
  const { terminal, nowMs } = session
  const beganMs = nowMs()
  let { at } = rest
  try {
    for await (const piece of piecesFrom(session, artifact, at)) {
      await write(handle, piece, at, rest.part)
      at += piece.length
      terminal.status(progress(rest, at, (nowMs() - beganMs) / 1000))
    }
    return { reached: at, error: brokenOff('the connection was closed') }
  } catch (error) {
    return { reached: at, error }
  }
}

/** Ends with an error if the server falls silent. */
async function* piecesFrom({ api }: Session, { artifact_id, sha256 }: Artifact, at: number) {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(new Error('the server fell silent')), silenceMs)
  try {
    const { body, status } = await api.open(
      `/api/artifacts/${segment(artifact_id)}/content`,
      { accept: '*/*', range: `bytes=${at}-`, 'if-range': `"${sha256}"` },
      silent.signal,
    )
    if (body === null || status !== 206)
      throw new Failure(
        exitCode.refused,
        `The server sent different bytes from those requested (${status})`,
      )
    for await (const piece of body) {
      timer.refresh()
      yield piece as Uint8Array
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw brokenOff((error as Error).message)
  } finally {
    clearTimeout(timer)
  }
}

async function write(handle: FileHandle, piece: Uint8Array, at: number, part: string) {
  let written = 0
  while (written < piece.length)
    written += (
      await handle.write(piece, written, piece.length - written, at + written).catch(error => {
        throw unwritable(part, error)
      })
    ).bytesWritten
}

function progress({ at: from, total, file }: Rest, at: number, seconds: number): string {
  const share = total === 0 ? 100 : Math.floor((100 * at) / total)
  const speed = size((at - from) / Math.max(0.001, seconds))
  return `${file}  ${size(at)} of ${size(total)}  ${share} %  ${speed}/s`
}

/** Wrong bytes are removed: no download could continue from them. */
async function refuseOtherBytes(
  process: Process,
  { sha256 }: Artifact,
  file: string,
): Promise<void> {
  const path = pathIn(process, file)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  const found = hash.digest('hex')
  if (found === sha256) return
  if (file.endsWith('.part')) await rm(path, { force: true })
  throw new Failure(exitCode.refused, `${file} has the SHA-256 ${found}, not ${sha256}`, {
    lines: ['hint: fetch it again'],
  })
}

async function sizeOf(file: string): Promise<number | null> {
  return (await stat(file).catch(missing))?.size ?? null
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

const isWorthRepeating = (error: unknown): boolean =>
  error instanceof Failure && error.exitCode === exitCode.unavailable && error.fields.status !== 502

const brokenOff = (why: string) =>
  new Failure(exitCode.unavailable, `The download broke off: ${why}`)

const unwritable = (part: string, error: Error) =>
  new Failure(exitCode.refused, `${part} could not be written: ${error.message}`)

function withHint(error: unknown, at: number): unknown {
  if (!(error instanceof Failure) || at === 0) return error
  const lines = [...error.lines, `hint: ${size(at)} are here; continue with --resume`]
  return new Failure(error.exitCode, error.message, { lines, fields: error.fields })
}
