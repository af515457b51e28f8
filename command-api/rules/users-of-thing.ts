import type { Pool } from 'pg'
import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Thing } from '../kind.ts'

/** `is_unfinished`: a job that has not ended, and so still needs it. */
export type User<T extends string = string> = {
  type: T
  id: string
  name: string
  may_read: boolean
  is_unfinished: boolean
}

type Asking = { username: string; role: string }

const named = 100

/** Everything that names a thing and still exists, unfinished jobs first; `write.use` has it of all slices. */
export async function usersOf<T extends string>(
  db: Pool | Transaction,
  { kind, id }: Thing,
  { username, role }: Asking,
): Promise<User<T>[]> {
  const { rows } = await db.query<User<T>>({
    name: 'users_of_thing',
    text: `select u.user_kind as type, r.id, coalesce(r.name, r.id) as name,
                  write.may_read(r.owner, r.project, $3, $2) as may_read, bool_or(u.used_as = 'unfinished') as is_unfinished
             from write.use u join write.resource r on r.kind = u.user_kind and r.id = u.user_id
            where u.used_kind = $5 and u.used_id = $1 and u.until is null and r.deleted_at is null
            group by u.user_kind, r.id, r.name, r.owner, r.project
            order by is_unfinished desc, may_read desc, u.user_kind, r.id limit $4`,
    values: [id, role === 'admin', username, named, kind],
  })
  return rows
}

/** Locks a thing that is about to be deleted: who begins to use it waits, and then finds it deleted (`hold-resource.ts`). */
export async function holdForDeletion<T extends string>(
  tx: Transaction,
  thing: Thing,
  caller: Asking,
): Promise<User<T>[]> {
  await tx.query('select from write.resource where kind = $1 and id = $2 for update', [
    thing.kind,
    thing.id,
  ])
  return usersOf(tx, thing, caller)
}

export const toNamed = <T extends string>({ type, id, may_read }: User<T>) =>
  may_read ? [{ type, id }] : []

/** Refuses to delete what unfinished jobs need; without `force` also what anything else names. */
export function refuseUsed(
  { id: ref }: Thing,
  users: readonly User[],
  { force, code }: { force: boolean; code: string },
): void {
  const needing = force ? users.filter(one => one.is_unfinished) : users
  if (needing.length === 0) return
  const shown = needing.filter(one => one.may_read)
  const hidden = needing.length - shown.length
  const who = shown.map(({ name, is_unfinished }) => (is_unfinished ? `${name} (not ended)` : name))
  if (hidden > 0) who.push(`${hidden} more that you may not read`)
  throw new Refusal('conflict', `${ref} is in use by ${who.join(', ')}`, {
    code,
    data: { users: shown.map(({ type, id }) => ({ type, id })), hidden },
    hint: needing.some(one => one.is_unfinished)
      ? 'Stop these jobs first, or wait until they have ended'
      : 'With ?force=true it is deleted all the same; those runs can then not be repeated',
  })
}
