import { CannotStart } from './cannot-start.ts'

/**
 * A file that Forge wrote cannot be read back: a full disk, a crash or an editor has damaged it. The message names the file
 * and says what to do, whether it is read at the start or later.
 */
export class DamagedFile extends CannotStart {
  constructor(path: string, text: string, remedy: string) {
    super(`${path} is damaged (${text.trim() === '' ? 'empty' : 'cut off or changed'}): ${remedy}`)
    this.name = 'DamagedFile'
  }
}

const restore = 'restore it from a backup, or remove it.'

/** The value of a JSON file that only Forge writes; throws `DamagedFile`, without its text, which may hold secrets. */
export function parseOwnFile<T>(path: string, text: string, remedy: string = restore): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new DamagedFile(path, text, remedy)
  }
}
