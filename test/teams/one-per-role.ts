import { type Forge, sharedForge } from '../servers/forge.ts'
import { signedIn } from '../servers/signed-in.ts'

export const roles = ['owner', 'maintainer', 'member', 'viewer', 'stranger', 'admin'] as const
export type Who = (typeof roles)[number]

export type OnePerRole = {
  forge: Forge
  /** Access tokens. */
  tokens: Record<Who, string>
  as(who: Who, method: string, path: string, body?: object): Promise<Reply>
}
export type Reply = {
  status: number
  body: { code?: string; detail?: string } & Record<string, unknown>
}

const shared = sharedForge({ SERVICE_ROLES: 'command-api,relay,projector,query-api' })

let signingIn: Promise<Record<string, string>> | null = null

/** A person is named like their role. An address may sign in only so often, so all tests of a file share them. */
async function everybody(forge: Forge): Promise<Record<string, string>> {
  const tokens: Record<string, string> = { admin: forge.token }
  for (const role of roles) if (role !== 'admin') tokens[role] = await signedIn(forge, role)
  return tokens
}

/** A team with one person in each role. */
export async function onePerRole(team: string): Promise<OnePerRole> {
  const forge = await shared()
  signingIn ??= everybody(forge)
  const tokens = await signingIn
  const as: OnePerRole['as'] = (who, method, path, body) =>
    forge.call<Reply['body']>(method, path, { token: tokens[who] ?? null, ...(body && { body }) })
  await as('owner', 'POST', '/api/teams', { name: team })
  for (const role of ['maintainer', 'member', 'viewer'])
    await as('owner', 'PUT', `/api/teams/${team}/members/${role}`, { role })
  // The read waits for these writes, which the reads of others do not.
  await as('owner', 'GET', `/api/teams/${team}`)
  return { forge, tokens: tokens as OnePerRole['tokens'], as }
}
