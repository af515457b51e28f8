import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { type Forge, startForge } from '../servers/forge.ts'

export const client = { id: 'forge', secret: 'the secret between two servers' }

/** The address of a future identity provider, unreachable until it is started. */
export type ProviderAddress = { issuer: string; server: Server }

/** A port on 127.0.0.1; Forge is at `localhost`, so this is another site, as in production. */
export async function providerAddress(t: ExecutionContext): Promise<ProviderAddress> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  t.teardown(() => server.closeAllConnections())
  return { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

export type ForgeWithProvider = {
  forge: Forge
  /** The address that people enter in the browser. */
  base: string
  redirectUri: string
}

/** A server whose people sign in with this provider. */
export async function startWithProvider(
  t: ExecutionContext,
  issuer: string,
  env: Record<string, string> = {},
): Promise<ForgeWithProvider> {
  const forge = await startForge(t, {
    SERVICE_LOG_LEVEL: 'info',
    SERVICE_OIDC_ISSUER: issuer,
    SERVICE_OIDC_CLIENT_ID: client.id,
    SERVICE_OIDC_CLIENT_SECRET: client.secret,
    SERVICE_OIDC_NAME: 'Example ID',
    SERVICE_OIDC_ADMIN_GROUP: 'forge-admins',
    ...env,
  })
  const base = env.SERVICE_BASE_URL ?? `http://localhost:${new URL(forge.url).port}`
  return { forge, base, redirectUri: `${base}/api/auth/oidc/callback` }
}
