import { createHmac, hkdfSync } from 'node:crypto'
import type { SealedFor } from './sealing-keys.ts'

/** What a captured request is sealed for. */
export const sealedForRequest = (request_id: string): SealedFor => ({
  purpose: 'forge captured request',
  owner: request_id,
})

/** The person whom a request names, so that their requests are found again without storing the name. */
export type Subjects = (deployment_id: string, user: string) => string

/** `root` is the same in every process of an installation. */
export function subjectsOf(root: Buffer): Subjects {
  const key = Buffer.from(hkdfSync('sha256', root, '', 'forge captured subject', 32))
  return (deployment_id, user) =>
    createHmac('sha256', key)
      .update(JSON.stringify([deployment_id, user]))
      .digest('hex')
}
