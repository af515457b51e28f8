import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from 'tar'
import { type Failure, usageFailure } from '../../program/failure.ts'
import { type ProjectFiles, unreadable } from './files.ts'

/** A packed project, in a separate file until `remove`. */
export type Packed = { file: string; bytes: number; sha256: string; remove(): Promise<void> }

/**
 * Packs files as .tar.gz. The same files with the same content always give the same bytes, so a server that already has them needs nothing.
 */
export async function pack({ folder, files }: ProjectFiles): Promise<Packed> {
  const place = await temporaryFolder()
  const remove = () => rm(place, { recursive: true, force: true })
  const file = join(place, 'package.tar.gz')
  try {
    const paths = files.map(({ path }) => `./${path}`)
    const options = { cwd: folder, file, gzip: true, portable: true, noDirRecurse: true }
    await create({ ...options, noMtime: true, strict: true }, paths)
    return { file, bytes: (await stat(file)).size, sha256: await sha256Of(file), remove }
  } catch (error) {
    await remove()
    throw failureOf(error as NodeJS.ErrnoException, place)
  }
}

const temporaryFolder = (): Promise<string> =>
  mkdtemp(join(tmpdir(), 'forge-package-')).catch(error => {
    throw unwritable(tmpdir(), error)
  })

const unwritable = (folder: string, { code, message }: NodeJS.ErrnoException): Failure =>
  usageFailure(
    `The package cannot be written to ${folder}: ${code ?? message}`,
    'hint: TMPDIR names another folder',
  )

/** Files may change between the time when they are listed and when they are packed. */
function failureOf(error: NodeJS.ErrnoException, place: string): Error {
  if (!error.syscall) return error
  const isOurs = !error.path || error.path.startsWith(place)
  return isOurs ? unwritable(place, error) : unreadable(error.path ?? '', error)
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
