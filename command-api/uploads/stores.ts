import type { ObjectStore } from '../../platform/objects/port.ts'
import type { UploadPurpose } from '../../schemas/uploads.ts'
import type { Deps } from '../deps.ts'

type Stores = Pick<Deps, 'uploads' | 'artifacts'>

/** The store for uploads of a purpose. Datasets are as large as artifacts, and other machines read them as well. */
export const storeFor = (stores: Stores, purpose: UploadPurpose): ObjectStore =>
  purpose === 'artifact' || purpose === 'dataset' ? stores.artifacts : stores.uploads

/** Each store once. */
export const allStores = ({ uploads, artifacts }: Stores): ObjectStore[] => [
  ...new Set([uploads, artifacts]),
]
