import type { DatasetVersionInput } from '../../schemas/datasets/datasets.ts'
import type { ValidationError } from '../../schemas/shared.ts'
import { Invalid } from '../../schemas/validate.ts'
import type { Transaction } from '../commit/event-store.ts'
import { takeUploads, type Uploaded } from '../rules/registered-uploads.ts'

/**
 * The registered files of the caller that a version names, sorted by name. Marks them as used, which a deletion of unused
 * uploads waits for and then sees.
 */
export async function uploadedFiles(
  tx: Transaction,
  { files, tokenizer }: Pick<DatasetVersionInput, 'files' | 'tokenizer'>,
  { owner, now }: { owner: string; now: Date },
) {
  const ids = [...files.map(file => file.upload_id), ...(tokenizer ? [tokenizer.upload_id] : [])]
  const rows = await takeUploads(tx, ids, { owner, purpose: 'dataset', now })
  const known = new Map(rows.map(row => [row.upload_id, row]))
  const faults: ValidationError[] = []
  const find = (upload_id: string, loc: ValidationError['loc']): Uploaded => {
    const found = known.get(upload_id)
    if (!found) faults.push(fault(loc, upload_id, notUploaded))
    return found ?? { upload_id, sha256: '', size_bytes: 0 }
  }
  const found = files.map(({ upload_id, name }, index) => ({
    name,
    ...find(upload_id, ['body', 'files', index, 'upload_id']),
  }))
  const counting = tokenizer
    ? {
        name: tokenizer.name,
        upload_id: tokenizer.upload_id,
        sha256: find(tokenizer.upload_id, ['body', 'tokenizer', 'upload_id']).sha256,
      }
    : null
  if (faults.length > 0) throw new Invalid(faults)
  return { files: found.sort((a, b) => (a.name < b.name ? -1 : 1)), tokenizer: counting }
}

const notUploaded =
  'Value error, you have no such upload with purpose dataset that was registered (POST /api/uploads/{upload_id}/complete)'

/** Every name once, on file systems that ignore case as well, and none a folder of another. */
export function refuseClashes({ files }: { files: readonly { name: string }[] }): void {
  const names = files.map(file => file.name.toLowerCase())
  const taken = new Set(names.flatMap(name => foldersOf(name)))
  const faults = names.flatMap((name, index) =>
    names.indexOf(name) < index || taken.has(name)
      ? [
          fault(
            ['body', 'files', index, 'name'],
            files[index]?.name,
            'Value error, the name is taken by another file, or by a folder',
          ),
        ]
      : [],
  )
  if (faults.length > 0) throw new Invalid(faults)
}

/** `a/b/c` lies in `a` and `a/b`. */
const foldersOf = (name: string): string[] => {
  const parts = name.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

export const fault = (loc: ValidationError['loc'], input: unknown, msg: string) => ({
  ...{ loc, msg, type: 'value_error', input },
})
