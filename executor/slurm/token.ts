import { readFile } from 'node:fs/promises'
import jwt from 'jsonwebtoken'

/** The key shared with Slurm's `auth/jwt`, which signs tokens; or a file with a ready-made token. */
export type TokenSource = { user: string; keyFile: string } | { tokenFile: string }

const lifeSeconds = 600
/** A token is replaced this long before it expires. */
const spareMs = 120_000

/** Makes tokens of a user for slurmrestd. Files are read again at each new token, so that they can be replaced. */
export function createTokens(source: TokenSource, now: () => Date): () => Promise<string> {
  if ('tokenFile' in source)
    return async () => (await readFile(source.tokenFile, 'utf8')).trim().replace(/^SLURM_JWT=/, '')
  let made: { token: string; until: number } | null = null
  return async () => {
    const at = now().getTime()
    if (made && at < made.until) return made.token
    const key = await readFile(source.keyFile)
    const iat = Math.floor(at / 1000)
    const token = jwt.sign({ iat, exp: iat + lifeSeconds, sun: source.user }, key, {
      algorithm: 'HS256',
    })
    made = { token, until: at + lifeSeconds * 1000 - spareMs }
    return token
  }
}
