import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { UploadSignature } from '../../schemas/uploads.ts'

/** `kid` tells which key signed an address, so that those of another key are recognized. */
export type UploadKey = { kid: string; secret: Buffer }

/** The same in every process of an installation, because `root` is. */
export function uploadKeyOf(root: Buffer): UploadKey {
  const secret = Buffer.from(hkdfSync('sha256', root, '', 'addresses of uploads', 32))
  return { kid: createHash('sha256').update(secret).digest('hex').slice(0, 8), secret }
}

/** What the signature covers besides its own query. */
type Signed = { upload_id: string; owner: string; content_type: string }

export const pathOf = (upload_id: string): string => `/api/uploads/${upload_id}`

/** The query of an address to which exactly these bytes may be sent until then. */
export function signedQuery(
  key: UploadKey,
  upload: Signed & { size_bytes: number; sha256: string | null },
  expires: Date,
): UploadSignature {
  const covered = {
    exp: String(Math.floor(expires.getTime() / 1000)),
    len: String(upload.size_bytes),
    sha256: upload.sha256 ?? '-',
    kid: key.kid,
  }
  return { ...covered, sig: macOf(key, upload, covered).toString('base64url') }
}

/** `forged`: not signed here, or changed since. */
export function judgeQuery(
  key: UploadKey,
  upload: Signed,
  { sig, ...covered }: UploadSignature,
  now: Date,
): 'valid' | 'expired' | 'forged' {
  const given = Buffer.from(sig, 'base64url')
  const right = macOf(key, upload, covered)
  if (given.length !== right.length || !timingSafeEqual(given, right)) return 'forged'
  return Number(covered.exp) * 1000 > now.getTime() ? 'valid' : 'expired'
}

function macOf(
  { secret }: UploadKey,
  { upload_id, owner, content_type }: Signed,
  { exp, len, sha256, kid }: Omit<UploadSignature, 'sig'>,
): Buffer {
  const covered = ['v1', 'PUT', upload_id, owner, pathOf(upload_id), exp, len, sha256, content_type]
  return createHmac('sha256', secret)
    .update([...covered, kid].join('\n'))
    .digest()
}
