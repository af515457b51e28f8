import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { noRoom } from './no-room.ts'
import type { Check } from './readiness.ts'
import { repeat } from './repeat.ts'

export type DiskRoom = {
  /** Throws `unavailable` while the disk is nearly full. */
  refuseGrowth(): void
  check(): Promise<Check>
  stop(): Promise<void>
}

export type DiskRoomOptions = {
  /** The file that keeps the reserve; its file system is watched. */
  reserve: string
  /** 0: no reserve. */
  reserveBytes: number
  logger: Logger
  lookEveryMs?: number
  /** How long the disk must be nearly full before the reserve is given back: a program that fills it may be ended meanwhile. */
  patienceMs?: number
}

const mebibyte = 1024 ** 2
/** With less free space than this, nothing that grows is accepted. */
export const leastFreeBytes = 64 * mebibyte

const fullWords = 'the disk is full: only what reads or frees space is accepted'

type Space = { free: number; total: number }

/**
 * Watches the space left on a file system. With less than 64 MiB the server accepts only what reads, stops, deletes
 * or signs in, and gives back its reserve, so that these still work on a disk that others have filled. The reserve is
 * made again once there is room for it.
 */
export async function watchDiskRoom(options: DiskRoomOptions): Promise<DiskRoom> {
  const { reserve, reserveBytes, logger, lookEveryMs = 250, patienceMs = 2000 } = options
  let space = await spaceOf(reserve)
  let isLow = false
  let lowSince = 0
  let hasReserve = (await sizeOf(reserve)) >= reserveBytes

  const note = (isLowNow: boolean) => {
    if (isLowNow === isLow) return
    isLow = isLowNow
    lowSince = performance.now()
    const { free } = space
    if (isLow) logger.error({ free_bytes: free }, fullWords)
    else logger.info({ free_bytes: free }, 'the disk has room again')
  }
  const giveBack = async () => {
    if (!hasReserve || performance.now() - lowSince < patienceMs) return
    await rm(reserve, { force: true })
    hasReserve = false
    logger.warn({ bytes: reserveBytes }, 'the reserve of the disk was given back')
  }
  const fill = async () => {
    if (hasReserve || !hasRoomFor(reserveBytes, space)) return
    await writeReserve(reserve, reserveBytes)
    hasReserve = true
  }
  const look = async () => {
    space = await spaceOf(reserve)
    // Twice the limit before it ends, so that the state does not change with every file.
    note(space.free < (isLow ? 2 : 1) * leastFreeBytes)
    await (isLow ? giveBack() : fill())
    return lookEveryMs
  }
  if (reserveBytes === 0) await rm(reserve, { force: true })
  const looking = repeat(look, {
    failed: error => logger.warn({ err: error }, 'the space of the disk is unknown, will retry'),
  })
  return {
    refuseGrowth() {
      if (isLow) throw noRoom()
    },
    check: async () => ({
      ok: !isLow,
      free_bytes: space.free,
      total_bytes: space.total,
      ...(isLow && { error: fullWords }),
      ...(!hasReserve &&
        !hasRoomFor(reserveBytes, space) && {
          degraded: true,
          notice: `there is no room for the reserve of ${reserveBytes / mebibyte} MiB`,
        }),
    }),
    stop: () => looking.stop(),
  }
}

/** Leaves out the blocks that only root may use. */
async function spaceOf(file: string): Promise<Space> {
  const { bavail, blocks, bsize } = await statfs(dirname(file))
  return { free: bavail * bsize, total: blocks * bsize }
}

const hasRoomFor = (reserveBytes: number, { free }: Space) =>
  free >= reserveBytes + 4 * leastFreeBytes

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}

/** Written in full, because a sparse file reserves nothing; random bytes, because zeros may be compressed away. */
async function writeReserve(file: string, bytes: number): Promise<void> {
  const piece = randomBytes(mebibyte)
  const made = `${file}.new`
  const handle = await open(made, 'w', 0o600)
  try {
    for (let at = 0; at < bytes; at += piece.length)
      await handle.write(piece, 0, Math.min(piece.length, bytes - at), at)
    await handle.sync()
    await handle.close()
    await rename(made, file)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(made, { force: true })
    throw error
  }
}
