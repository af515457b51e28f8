import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { stringify } from 'yaml'
import { packed } from '../platform/files/tar-of.ts'
import { ask, type Calls, complete, put } from '../uploads/sending.ts'
import { folder, tinyFile } from './tiny-recipe.ts'

/** An archive of `tiny`, with these fields of its file and these further files. */
export const archiveOf = (fields: object = {}, files: Record<string, string> = {}): Buffer => {
  const all = {
    'recipe.yaml': stringify({ ...tinyFile, ...fields }),
    'train.py': 'print("trained")\n',
    ...files,
  }
  return packed(...Object.entries(all).map(([path, content]) => ({ path, content })))
}

/** Sends and registers an archive as its own kind of upload; returns its id. */
export async function uploaded(forge: Calls, bytes: Buffer, token?: string): Promise<string> {
  const { body: target } = await ask(forge, bytes, { purpose: 'recipe' }, token)
  await put(target, bytes)
  const { status, body } = await complete(forge, target, token)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return target.upload_id
}

export type Added = {
  name: string
  version: string
  digest: string
  created: boolean
  deprecated: boolean
  detail: string
  code: string
}

export const addUpload = (forge: Calls, upload_id: string, token?: string) =>
  forge.call<Added>('POST', '/api/admin/recipes', {
    ...(token !== undefined && { token }),
    body: { upload_id },
  })

export const addArchive = async (forge: Calls, bytes: Buffer) =>
  addUpload(forge, await uploaded(forge, bytes))

/** A folder with these files. */
export async function folderOf(
  t: ExecutionContext,
  files: Record<string, string>,
): Promise<string> {
  const root = await folder(t)
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), content)
  }
  return root
}
