import {
  type AddressKey,
  expiryOf,
  judgeSignature,
  signatureOf,
} from '../../platform/http/signed-address.ts'
import type { UploadSignature } from '../../schemas/uploads.ts'

/** The parts of a request that the signature covers besides its own query. */
type Signed = { upload_id: string; owner: string; content_type: string }

export const pathOfUpload = (upload_id: string): string => `/api/uploads/${upload_id}`

/** The query of an address to which exactly these bytes may be sent until then. */
export function signedQuery(
  key: AddressKey,
  upload: Signed & { size_bytes: number; sha256: string | null },
  expires: Date,
): UploadSignature {
  const query = {
    exp: expiryOf(expires),
    len: String(upload.size_bytes),
    sha256: upload.sha256 ?? '-',
    kid: key.kid,
  }
  return { ...query, sig: signatureOf(key, covered(upload, query)) }
}

/** `forged`: not signed here, or changed since. */
export const judgeQuery = (key: AddressKey, upload: Signed, query: UploadSignature, now: Date) =>
  judgeSignature(key, covered(upload, query), query, now)

const covered = (
  { upload_id, owner, content_type }: Signed,
  { exp, len, sha256, kid }: Omit<UploadSignature, 'sig'>,
) => ['v1', 'PUT', upload_id, owner, pathOfUpload(upload_id), exp, len, sha256, content_type, kid]
