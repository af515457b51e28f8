import { statfs } from 'node:fs/promises'
import { repeat } from '../../platform/repeat.ts'
import type { DiskLimit } from '../attempts/attempt-directory.ts'

export type DiskWatch = {
  /** Why the attempt was ended; null if it was not. */
  exceeded(): string | null
  stop(): Promise<void>
}

type Options = DiskLimit & {
  /** Its file system is watched. */
  folder: string
  measure: () => Promise<Occupied>
  /** Ends the attempt; called again if it still grows. */
  end: (why: string) => Promise<unknown>
  failed: (error: unknown) => void
  lookEveryMs?: number
}

const mebibyte = 1024 ** 2
/** A file system with less free space is about to be full: this much, or a tenth of a small one. */
const tightBytes = 1024 * mebibyte
/** Less growth never ends an attempt on a full disk: the space went elsewhere. */
const leastGrowthBytes = 16 * mebibyte
/** Pauses between measurements, in milliseconds, and in lengths of the last one: a large tree takes long. */
const pauses = { withLimit: 2000, ample: 30_000, tight: 250, inLengths: 10 }
/** An attempt that took this part of the space lost since the disk was ample is ended; after `laterMs` a smaller part is enough. */
const share = { first: 1 / 4, later: 1 / 16, laterMs: 5000 }

/** What the attempt occupies, and what its volumes hold, in bytes; `isHere`: on the same file system. */
export type Occupied = { used: number; volumes: readonly VolumeUse[] }
type VolumeUse = { name: string; used: number; limit_bytes: number; isHere: boolean }

/** What a measurement of the attempt and of its file system has found. */
export type Measured = Occupied & { free: number; isTight: boolean }

/**
 * Decides why an attempt must end: it occupies more than its limit, or it fills the disk. With little space left, the
 * attempts end that have taken a large part of the space lost since there was plenty. Each attempt judges itself, so
 * that this works without a server. Returns null if it may continue.
 */
export function diskJudge(
  limit_bytes: number | null,
): (seen: Measured, nowMs: number) => string | null {
  let ample: Measured | null = null
  let tightSince: number | null = null
  return (seen, nowMs) => {
    const { isTight } = seen
    tightSince = isTight ? (tightSince ?? nowMs) : null
    if (!isTight || ample === null) ample = seen
    const beyond = beyondLimit(seen, limit_bytes)
    if (beyond !== null) return beyond
    return tightSince === null ? null : fills(seen, ample, nowMs - tightSince)
  }
}

function fills(seen: Measured, ample: Measured, tightMs: number): string | null {
  const { free } = seen
  const growth = usedHere(seen) - usedHere(ample)
  const part = tightMs > share.laterMs ? share.later : share.first
  return growth < Math.max(leastGrowthBytes, (ample.free - free) * part)
    ? null
    : `The disk is nearly full, and this run has taken ${sizeText(growth)} of it lately`
}

function beyondLimit({ used, volumes }: Occupied, limit_bytes: number | null): string | null {
  if (limit_bytes !== null && used > limit_bytes)
    return `It used ${sizeText(used)} of disk space; its limit is ${sizeText(limit_bytes)}`
  const full = volumes.find(one => one.used > one.limit_bytes)
  return full
    ? `The volume ${full.name} has ${sizeText(full.used)}; its size is ${sizeText(full.limit_bytes)}`
    : null
}

const usedHere = ({ used, volumes }: Measured): number =>
  volumes.reduce((sum, one) => sum + (one.isHere ? one.used : 0), used)

/** Measures again and again, and ends the attempt for what `diskJudge` says. */
export function watchDisk({
  folder,
  limit_bytes,
  volumes = [],
  measure,
  end,
  failed,
  lookEveryMs = 250,
}: Options): DiskWatch {
  const judge = diskJudge(limit_bytes)
  const stopping = new AbortController()
  let why: string | null = null
  let wasTight = false
  let nextMs = 0
  const pauseOf = (isTight: boolean) => {
    if (isTight) return pauses.tight
    return limit_bytes === null && volumes.length === 0 ? pauses.ample : pauses.withLimit
  }
  const look = async () => {
    const { free, isTight } = await spaceOf(folder)
    const began = performance.now()
    if (began < nextMs && isTight === wasTight) return lookEveryMs
    wasTight = isTight
    const occupied = await measure()
    const now = performance.now()
    nextMs = now + Math.max(pauseOf(isTight), pauses.inLengths * (now - began))
    const reason = judge({ ...occupied, free, isTight }, now)
    if (reason !== null && !stopping.signal.aborted) {
      why ??= reason
      await end(reason)
    }
    return lookEveryMs
  }
  const looking = repeat(look, { failed })
  return {
    exceeded: () => why,
    async stop() {
      stopping.abort()
      await looking.stop()
    },
  }
}

async function spaceOf(folder: string): Promise<{ free: number; isTight: boolean }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  const free = bavail * bsize
  return { free, isTight: free < Math.min(tightBytes, (blocks * bsize) / 10) }
}

const sizeText = (bytes: number): string =>
  bytes === Number.POSITIVE_INFINITY
    ? 'an unknown amount, in folders that it has closed to the server,'
    : bytes < 1e9
      ? `${Number((bytes / 1e6).toPrecision(3))} MB`
      : `${Number((bytes / 1e9).toPrecision(3))} GB`
