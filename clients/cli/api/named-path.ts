import { usageFailure } from '../program/failure.ts'
import { type Api, segment } from './client.ts'

/** The path of a thing below `base` that is named `OWNER/NAME`, or `NAME` of the caller. */
export async function namedPath(
  api: Api,
  named: string,
  { base, noun }: { base: string; noun: string },
): Promise<string> {
  const [owner = '', name, ...others] = named.split('/')
  if (named.includes('@') || others.length > 0 || owner === '' || name === '')
    throw usageFailure(`${named}: name ${noun} as OWNER/NAME`)
  const of = (username: string, own: string) => `${base}/${segment(username)}/${segment(own)}`
  if (name !== undefined) return of(owner, name)
  const me = await api.get<{ username: string }>('/api/auth/me')
  return of(me.username, owner)
}
