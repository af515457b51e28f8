import {
  type AddressKey,
  expiryOf,
  judgeSignature,
  signatureOf,
} from '../../platform/http/signed-address.ts'
import type { DownloadSignature } from '../../schemas/artifacts/artifacts.ts'

type Download = { artifact_id: string; sha256: string; filename: string }

export const downloadPath = (artifact_id: string): string => `/api/downloads/${artifact_id}`

/**
 * The query of a signed address: until it expires, it gives access to exactly these bytes without further
 * credentials.
 */
export function signedDownload(
  key: AddressKey,
  { artifact_id, sha256, filename }: Download,
  expires: Date,
): DownloadSignature {
  const query = { exp: expiryOf(expires), sha256, filename, kid: key.kid }
  return { ...query, sig: signatureOf(key, covered(artifact_id, query)) }
}

/** `forged`: not signed here, or changed since. */
export const judgeDownload = (
  key: AddressKey,
  artifact_id: string,
  query: DownloadSignature,
  now: Date,
) => judgeSignature(key, covered(artifact_id, query), query, now)

const covered = (
  artifact_id: string,
  { exp, sha256, filename, kid }: Omit<DownloadSignature, 'sig'>,
) => ['v1', 'GET', downloadPath(artifact_id), exp, sha256, filename, kid]
