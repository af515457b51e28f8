import type { ExecutionContext } from 'ava'
import type { ProjectRole } from '../../command-api/rules/access.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import type { ExternalRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

/** Every role in a project; `stranger` has none. */
export type Who = ProjectRole | 'stranger'

export type OnePerRole = {
  forge: Forge
  /** Access tokens. */
  tokens: Record<Who, string>
  /** A run of the submitter, who was a member at that time and no longer is. */
  run: ExternalRun
}

export const project = 'demo'

/** Resolves once everybody's reads include this person's last write: their own read waits for it. */
export const shown = (forge: Forge, writer: string | undefined) =>
  forge.call('GET', '/api/projects', { token: writer ?? null })

/** A server with a private project and one person per role; the guest has access once it is internal. */
export async function onePerRole(
  t: ExecutionContext,
  env: Record<string, string> = {},
): Promise<OnePerRole> {
  const forge = await startForge(t, env)
  const operators = ['owner', 'maintainer', 'member', 'viewer', 'submitter', 'guest', 'stranger']
  const tokens: Record<string, string> = { admin: forge.token }
  for (const name of operators) tokens[name] = await signedIn(forge, name)
  const as = (who: string, method: string, path: string, body?: object) =>
    forge.call<OnePerRole['run']>(method, path, { token: tokens[who] ?? null, body })
  await as('owner', 'POST', '/api/runs', { project })
  for (const role of ['maintainer', 'member', 'viewer'])
    await as('owner', 'PUT', `/api/projects/${project}/members/${role}`, { role })
  await as('owner', 'PUT', `/api/projects/${project}/members/submitter`, { role: 'member' })
  const { body: run } = await as('submitter', 'POST', '/api/runs', { project })
  await as('owner', 'DELETE', `/api/projects/${project}/members/submitter`)
  await shown(forge, tokens.submitter)
  await shown(forge, tokens.owner)
  return { forge, tokens: tokens as OnePerRole['tokens'], run }
}
