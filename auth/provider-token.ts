import { type Seal, seal, unseal } from './sealed.ts'

export type Sealing = { clientSecret: string; username: string }

/**
 * Seals a provider's refresh token for the database. The key is derived from the client secret, without which the
 * token would be useless as well; it is in no table and the same in every process.
 */
export const sealProviderToken = (token: string, of: Sealing): Buffer => seal(token, sealOf(of))

/** Null if it was sealed for another person or under another client secret. */
export const openProviderToken = (sealed: Buffer, of: Sealing): string | null =>
  unseal(sealed, sealOf(of))

const sealOf = ({ clientSecret, username }: Sealing): Seal => ({
  root: clientSecret,
  purpose: 'forge provider token',
  owner: username,
})
