import { DirectoryStore } from '../platform/objects/directory.ts'
import type { ObjectStore } from '../platform/objects/port.ts'
import type { Core } from './core.ts'
import { uploadsIn } from './data-directory.ts'
import { s3PlaceOf } from './settings/s3.ts'

/**
 * `uploads` holds packages and recipes, which programs of this machine open; `artifacts` holds the output of runs, in
 * the same folder or in a bucket.
 */
export async function openStores({
  config,
  life,
}: Core): Promise<{ uploads: DirectoryStore; artifacts: ObjectStore }> {
  const uploads = new DirectoryStore(uploadsIn(config))
  await uploads.open()
  const place = await s3PlaceOf(config)
  if (place === null) return { uploads, artifacts: uploads }
  // Loading it takes 0.2 s, and most installations never need it.
  const { S3Store } = await import('../platform/objects/s3.ts')
  const artifacts = life.owns('object store', new S3Store(place), async store => store.close())
  return { uploads, artifacts }
}
