import { Refusal } from './refusal.ts'

/** PostgreSQL's `disk_full`, and what a write to a file system without room ends with. */
const noRoomCodes = new Set(['53100', 'ENOSPC', 'EDQUOT'])
/** Too many open files, of this process or of the machine. */
const noFilesCodes = new Set(['EMFILE', 'ENFILE'])
/** Deeper causes say nothing about this failure. */
const deepest = 8

/** The refusal for a failure that only more room on the disk, or fewer open files, can end; null for every other. */
export function outOfResources(error: unknown): Refusal | null {
  let cause = error
  for (let depth = 0; depth < deepest && cause instanceof Error; depth++) {
    const code = 'code' in cause ? String(cause.code) : ''
    if (noRoomCodes.has(code)) return noRoom(error)
    if (noFilesCodes.has(code)) return noFiles(error)
    cause = cause.cause
  }
  return null
}

export const noRoom = (cause?: unknown): Refusal =>
  new Refusal('unavailable', 'The disk of the server is full; try again later', {
    code: 'disk.full',
    hint: 'Delete what is no longer needed, or ask an administrator to free space',
    retryAfterSeconds: 30,
    cause,
  })

const noFiles = (cause: unknown): Refusal =>
  new Refusal('unavailable', 'The server has too many open files; try again', {
    code: 'files.exhausted',
    retryAfterSeconds: 5,
    cause,
  })
