import { sha256 } from '../auth/opaque-token.ts'
import { canonicalJson } from '../platform/digest.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Asked } from './asked.ts'
import { ConcurrentWrite, type Transaction } from './event-store.ts'

/** How long a response is kept for its key, in milliseconds. */
const keptMs = 24 * 3_600_000
const maxKeyLength = 255

/** An `Idempotency-Key` of one caller for one route, with the hash of the body. */
export type Claim = { scope: string; key: string; hash: Buffer; now: Date }

/** A stored response; `position` is null if nothing was written. */
export type Kept = { answer: unknown; position: string | null }

/** Null if no key was sent. */
export function claimOf(asked: Asked, now: Date): Claim | null {
  if ('actor' in asked) return null
  const { caller, body, ctx } = asked
  const key = ctx.get('idempotency-key')
  if (key === '') return null
  if (key.length > maxKeyLength)
    throw new Refusal(
      'invalid',
      `Idempotency-Key has ${key.length} characters; at most ${maxKeyLength} are allowed`,
    )
  const who = caller.kind === 'person' ? caller.username : caller.kind
  return { scope: `${who} ${ctx.method} ${ctx.path}`, key, hash: hashOf(body), now }
}

/** Name of the lock that serializes requests with the same key. */
export const lockOf = ({ scope, key }: Claim): string => `idempotency ${scope} ${key}`

/** Leaves out the password, so that nobody can guess it from the stored hash. */
const hashOf = (body: unknown) =>
  sha256(canonicalJson(typeof body === 'object' ? { ...body, password: undefined } : body))

const oldest = (now: Date) => new Date(now.getTime() - keptMs)

/** The response to the first request with this key; null if this is the first. The caller holds the key's lock. */
export async function findAnswer(tx: Transaction, claim: Claim): Promise<Kept | null> {
  const { scope, key, hash, now } = claim
  const { rows } = await tx.query({
    name: 'find_answer',
    text: `select request_hash, answer, position from write.idempotency
            where scope = $1 and key = $2 and created_at >= $3`,
    values: [scope, key, oldest(now)],
  })
  const [first] = rows
  if (!first) return null
  if (!hash.equals(first.request_hash))
    throw new Refusal(
      'conflict',
      `Idempotency-Key ${key} was already used with a different body; use a new key`,
      { code: 'idempotency.other_body' },
    )
  return { answer: first.answer, position: first.position }
}

/**
 * Stores a response in the transaction of the change that it reports. Processes of earlier versions do not take the
 * key's lock: if one of them has used the key meanwhile, the command is decided again on the new state.
 */
export async function keepAnswer(
  tx: Transaction,
  { scope, key, hash, now }: Claim,
  { answer, position }: Kept,
): Promise<void> {
  const { rowCount } = await tx.query({
    name: 'keep_answer',
    text: `insert into write.idempotency as known (scope, key, request_hash, answer, position, created_at)
           values ($1, $2, $3, $4, $5, $6)
           on conflict (scope, key) do update
             set request_hash = excluded.request_hash, answer = excluded.answer,
                 position = excluded.position, created_at = excluded.created_at
             where known.created_at < $7`,
    values: [scope, key, hash, JSON.stringify(answer, withoutSecrets), position, now, oldest(now)],
  })
  if (rowCount === 0) throw new ConcurrentWrite(`the key ${key} was used at the same time`)
  await forgetOld(tx, now)
}

const secretFields = new Set(['token', 'SERVICE_TOKEN', 'password', 'secret'])

const withoutSecrets = (field: string, value: unknown) => (secretFields.has(field) ? null : value)

/** How often a process deletes expired responses, in milliseconds, and at most how many at once. */
const forgetEveryMs = 60_000
const forgottenAtOnce = 10_000
let forgottenAtMs = Number.NEGATIVE_INFINITY

/** Concurrent processes skip each other's rows. */
async function forgetOld(tx: Transaction, now: Date): Promise<void> {
  if (Math.abs(now.getTime() - forgottenAtMs) < forgetEveryMs) return
  forgottenAtMs = now.getTime()
  await tx.query(
    `delete from write.idempotency where (scope, key) in
       (select scope, key from write.idempotency where created_at < $1
         order by created_at limit $2 for update skip locked)`,
    [oldest(now), forgottenAtOnce],
  )
}
