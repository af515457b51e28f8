import { Refusal } from '../refusal.ts'

const maxPathBytes = 1024
/** NAME_MAX of the usual file systems. */
const maxPartBytes = 255

/** Checks the names in one archive: none may lead out of the folder, and no two may collide on any file system. */
export class ArchiveNames {
  readonly #maxEntries: number
  /** Keyed by the normalized path: some file systems ignore case or Unicode form. */
  readonly #seen = new Map<string, { kind: 'file' | 'folder'; path: string }>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** Returns the path in its shortest form; the empty path is the folder itself. */
  accept(name: string, kind: 'file' | 'folder'): string {
    const fault = faultOf(name)
    if (fault !== null) throw refused(name, fault)
    const parts = name.split('/').filter(part => part !== '' && part !== '.')
    if (parts.length === 0 && kind === 'file') throw refused(name, 'is not a name')
    parts.forEach((_, index) => {
      const isLast = index === parts.length - 1
      this.#note(parts.slice(0, index + 1).join('/'), isLast ? kind : 'folder')
    })
    return parts.join('/')
  }

  #note(path: string, kind: 'file' | 'folder'): void {
    const key = path.normalize('NFC').toUpperCase().toLowerCase()
    const known = this.#seen.get(key)
    if (known === undefined) {
      this.#seen.set(key, { kind, path })
      if (this.#seen.size > this.#maxEntries) throw tooMany(this.#maxEntries)
      return
    }
    const isSameFolder = known.kind === 'folder' && kind === 'folder' && known.path === path
    if (!isSameFolder) throw refused(path, `appears twice, also as ${JSON.stringify(known.path)}`)
  }
}

function faultOf(name: string): string | null {
  if (/[\p{Cc}\uFFFD\\]/u.test(name))
    return 'contains a control character or a backslash, or is not UTF-8'
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) return 'is absolute'
  const parts = name.split('/')
  if (parts.includes('..')) return 'leads out of the folder'
  if (Buffer.byteLength(name) > maxPathBytes) return `is longer than ${maxPathBytes} bytes`
  if (parts.some(part => Buffer.byteLength(part) > maxPartBytes))
    return `has a component longer than ${maxPartBytes} bytes`
  return null
}

const refused = (name: string, fault: string) =>
  new Refusal('invalid', `The archive is refused: ${JSON.stringify(name.slice(0, 200))} ${fault}`, {
    code: 'archive.unsafe',
  })

const tooMany = (limit: number) =>
  new Refusal('too_large', `The archive holds more than ${limit} files and folders`, {
    code: 'archive.too_large',
    data: { limit_entries: limit },
  })
