import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { pause } from '../../platform/pause.ts'
import { isErrno } from '../attempts/durable-json.ts'
import type { StoredArtifact } from '../port.ts'
import { NotFetched } from './not-fetched.ts'

/** The server that has the artifact, as the run reaches it. */
export type Source = { endpoint: string; run_id: string; token: string }

export type FetchOptions = {
  source: Source
  say: (line: string) => void
  signal: AbortSignal
  /** Where the server has it, if it is no artifact. */
  content?: { path: string; query: Record<string, string> }
  /** How long nothing may arrive, over any number of tries. */
  patienceMs?: number
  /** How long one connection may be silent. */
  silentMs?: number
}

/** A restart of the server, or an outage of its bucket, loses no start. */
const defaultPatienceMs = 10 * 60_000
const defaultSilentMs = 60_000
const pauseMs = { first: 250, most: 5000 }

/** Faults that a retry may overcome: the connection, the server, its store. */
class Interrupted extends Error {}

/**
 * Fetches an artifact into a new file and checks its size and digest. A broken connection is resumed where it stopped. Throws
 * `NotFetched`, or whatever the signal aborts with.
 */
export async function fetchStored(
  artifact: StoredArtifact,
  file: string,
  options: FetchOptions,
): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    const arriving = new Arriving(artifact, handle, options)
    await receiveAll(artifact, arriving, options)
    arriving.check()
    await handle.sync()
  } catch (error) {
    throw toFault(artifact, error)
  } finally {
    await handle.close()
  }
}

async function receiveAll(
  artifact: StoredArtifact,
  arriving: Arriving,
  options: FetchOptions,
): Promise<void> {
  const { signal, patienceMs = defaultPatienceMs } = options
  let failures = 0
  let aliveMs = performance.now()
  while (!arriving.isWhole) {
    const before = arriving.bytes
    const trouble = await interruptionOf(() => arriving.receive(), signal)
    if (arriving.bytes > before) {
      failures = 0
      aliveMs = performance.now()
    }
    if (trouble === null) continue
    if (performance.now() - aliveMs > patienceMs)
      throw new NotFetched(artifact, `nothing arrived for too long: ${trouble}`)
    failures += 1
    if (failures === 1) options.say(`${trouble}; trying again from byte ${arriving.bytes}`)
    await pause(Math.min(pauseMs.most, pauseMs.first * 2 ** failures), signal)
  }
}

/** Null: it went well. */
async function interruptionOf(
  act: () => Promise<void>,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    await act()
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Interrupted) return error.message
    throw error
  }
}

/** A growing file and the digest of its content. */
class Arriving {
  bytes = 0
  readonly #artifact: StoredArtifact
  readonly #handle: FileHandle
  readonly #options: FetchOptions
  #hash = createHash('sha256')

  constructor(artifact: StoredArtifact, handle: FileHandle, options: FetchOptions) {
    this.#artifact = artifact
    this.#handle = handle
    this.#options = options
  }

  get isWhole(): boolean {
    return this.bytes >= this.#artifact.size_bytes
  }

  /** Requests the missing bytes once. */
  async receive(): Promise<void> {
    const { signal, silentMs = defaultSilentMs } = this.#options
    const silent = new AbortController()
    const timer = setTimeout(() => silent.abort(), silentMs)
    try {
      const response = await this.#ask(AbortSignal.any([signal, silent.signal]))
      await this.#refuseFault(response)
      if (response.status === 200) await this.#begin()
      for await (const chunk of response.body ?? []) {
        timer.refresh()
        await this.#take(chunk)
      }
    } catch (error) {
      if (error instanceof NotFetched || error instanceof Interrupted || isOfDisk(error))
        throw error
      throw new Interrupted(`the server cannot be reached (${reasonOf(error)})`)
    } finally {
      clearTimeout(timer)
    }
    if (!this.isWhole) throw new Interrupted('the connection broke off')
  }

  check(): void {
    const found = this.#hash.digest('hex')
    const { sha256 } = this.#artifact
    if (found !== sha256)
      throw new NotFetched(
        this.#artifact,
        `its file in the store is damaged: it has the SHA-256 ${found}, not ${sha256}`,
      )
  }

  #ask(signal: AbortSignal): Promise<Response> {
    const { source, content } = this.#options
    const { endpoint, run_id, token } = source
    const { artifact_id } = this.#artifact
    const { path, query } = content ?? { path: 'artifact/content', query: { artifact_id } }
    return fetch(`${endpoint}/${path}?${new URLSearchParams({ run_id, ...query })}`, {
      headers: {
        'x-service-token': token,
        ...(this.bytes > 0 && { range: `bytes=${this.bytes}-` }),
      },
      signal,
    })
  }

  async #refuseFault(response: Response): Promise<void> {
    const { size_bytes } = this.#artifact
    if (response.ok) {
      const size = this.#sizeSaid(response)
      if (size === size_bytes) return
      await response.body?.cancel()
      throw new NotFetched(
        this.#artifact,
        `its file in the store is damaged: it has ${size} bytes, not ${size_bytes}`,
      )
    }
    const { detail, code } = await faultIn(response)
    const { status } = response
    const mayPass = status >= 500 ? code !== 'artifact.lost' : [408, 425, 429].includes(status)
    const said = `${detail} (${status})`
    throw mayPass ? new Interrupted(said) : new NotFetched(this.#artifact, said)
  }

  /** The digest of the whole file. */
  #sizeSaid({ status, headers }: Response): number {
    const said = status === 206 ? headers.get('content-range')?.split('/')[1] : null
    return Number(said ?? headers.get('content-length') ?? Number.NaN)
  }

  /** The server sends the whole file, whatever was requested. */
  async #begin(): Promise<void> {
    await this.#handle.truncate(0)
    this.bytes = 0
    this.#hash = createHash('sha256')
  }

  async #take(chunk: Uint8Array): Promise<void> {
    await this.#handle.write(chunk, 0, chunk.length, this.bytes)
    this.#hash.update(chunk)
    this.bytes += chunk.length
    if (this.bytes > this.#artifact.size_bytes)
      throw new NotFetched(this.#artifact, 'more bytes arrived than it has')
  }
}

async function faultIn(response: Response): Promise<{ detail: string; code: string }> {
  const text = await response.text()
  try {
    const { detail, code } = JSON.parse(text)
    return { detail: String(detail), code: String(code) }
  } catch {
    return { detail: 'the responding server is not Forge', code: '' }
  }
}

/** No errors of connections. */
const isOfDisk = (error: unknown): boolean =>
  isErrno(error, 'ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EFBIG')

function toFault(artifact: StoredArtifact, error: unknown): unknown {
  if (isErrno(error, 'ENOSPC', 'EDQUOT'))
    return new NotFetched(
      artifact,
      `there is no room on this machine for its ${artifact.size_bytes} bytes`,
    )
  return error
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error
    ? cause.message || String(Reflect.get(cause, 'code'))
    : error.message
}
