import { type Route, route } from '../../auth/route.ts'
import { type KeyEvent, keyRing } from '../../events/keys.ts'
import { rotatedKey } from '../../schemas/keys.ts'
import { toTimestamp } from '../../schemas/timestamp.ts'
import { commit } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'

/** The key folder, not a table, is the list of keys. */
export const keyRoutes = (deps: Deps): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/keys/rotate',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Sign access tokens with a new key; nobody is signed out',
    response: rotatedKey,
    async handle(request) {
      const { keys, config } = deps
      const now = deps.now()
      const replaced_kid = keys.current().kid
      const prepared = await keys.prepare(now)
      const { kid } = prepared
      // Recorded before the key is used, so that none is used unrecorded.
      await commit(deps, request, keyRing, {
        decide: (): KeyEvent[] => [{ type: 'signing_key.rotated', data: { kid, replaced_kid } }],
      })
      await prepared.activate()
      const endsAt = new Date(now.getTime() + config.jwtHours * 3_600_000)
      return { kid, replaced_kid, replaced_ends_at: toTimestamp(endsAt) }
    },
  }),
]
