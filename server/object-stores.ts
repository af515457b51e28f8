import { DirectoryStore } from '../platform/objects/directory.ts'
import type { ObjectStore } from '../platform/objects/port.ts'
import type { Core } from './core.ts'
import { uploadsIn } from './data-directory.ts'

/** `uploads` holds packages and recipes, which programs of this machine open; `artifacts` what runs produced: the same folder. */
export async function openStores({
  config,
}: Core): Promise<{ uploads: DirectoryStore; artifacts: ObjectStore }> {
  const uploads = new DirectoryStore(uploadsIn(config))
  await uploads.open()
  return { uploads, artifacts: uploads }
}
