import { madeUpPassword, type Passwords, refuseBadPassword } from '../../auth/passwords.ts'
import { type UserEvent, userAt } from '../../events/users.ts'
import { create } from '../commit/commit.ts'
import type { Deps } from '../deps.ts'

/** Servers that start together on an empty database wait for each other here, whatever their first admin is called. */
const firstAdmin = 'the first admin'

/**
 * Creates the first administrator of an empty installation. Returns the generated password, to be shown once; null
 * if it was configured or there are people already.
 */
export async function createFirstAdmin(
  deps: Deps,
  passwords: Passwords,
): Promise<{ username: string; password: string | null } | null> {
  const someone = 'select 1 from auth.person limit 1'
  if ((await deps.pool.query(someone)).rowCount !== 0) return null
  const username = deps.config.initAdminUsername
  const isGenerated = deps.config.initAdminPassword === null
  const password = deps.config.initAdminPassword ?? madeUpPassword()
  if (!isGenerated) await refuseBadPassword(password, username)
  const password_hash = await passwords.hash(password)
  const start = {
    actor: { type: 'system', id: 'server', via: 'first-start' },
    requestId: 'first-start',
  } as const
  const target = userAt(username)
  const isCreated = await create(deps, start, target, {
    locks: [firstAdmin],
    async make(work) {
      if ((await work.tx.query(someone)).rowCount !== 0) return false
      await work.decide(target, {
        decide: (): UserEvent[] => [
          { type: 'user.created', data: { username, role: 'admin', auth: 'password' } },
        ],
        alongside: (tx, { now }) =>
          tx.query(
            `insert into auth.person (username, role, password_hash, created_at, password_generated_at)
             values ($1, 'admin', $2, $3, $4)`,
            [username, password_hash, now, isGenerated ? now : null],
          ),
      })
      return true
    },
  })
  if (!isCreated) return null
  return { username, password: isGenerated ? password : null }
}
