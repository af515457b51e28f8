import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { unpackArchive } from '../platform/files/unpack.ts'
import { isSensitive } from '../schemas/artifacts/sensitive-files.ts'
import { FaultyRecipe } from './catalogue.ts'
import { isLeftOut } from './digest.ts'

export type FolderArchive = {
  /** What the folder is, for messages. */
  noun: string
  /** The file that describes it, at its top. */
  manifest: string
  /** How large the archive may be when expanded. */
  limitBytes: number
  modes: { file: number; program: number; folder: number }
}

/** Anybody may read the files, because runs may have other users; this process may replace them. */
export const sharedModes = { file: 0o644, program: 0o755, folder: 0o755 }

/** Unpacks an archive into an empty folder; returns the folder with the manifest, which may be the only one in the archive. */
export async function unpackFolder(
  archive: string,
  folder: string,
  { noun, manifest, limitBytes, modes }: FolderArchive,
): Promise<string> {
  await unpackArchive(archive, folder, {
    ...{ limitBytes, modes, owner: null },
    takes: ({ kind, path: name }) => {
      if (kind === 'file' && isSensitive(name))
        throw new FaultyRecipe(`${noun}: ${name} is a file that no ${noun} may contain`)
      return !name.split('/').some(isLeftOut)
    },
  })
  const entries = await readdir(folder, { withFileTypes: true })
  const only = entries.length === 1 ? entries[0] : undefined
  const root = only?.isDirectory() ? path.join(folder, only.name) : folder
  const file = await stat(path.join(root, manifest)).catch(() => null)
  if (!file?.isFile())
    throw new FaultyRecipe(
      `${noun}: the archive has no ${manifest}, at its top or in its one folder`,
    )
  return root
}
