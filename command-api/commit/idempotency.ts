import { sha256 } from '../../auth/opaque-token.ts'
import { canonicalJson } from '../../platform/digest.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Asked } from './asked.ts'
import { ConcurrentWrite, type EventStore, type Transaction } from './event-store.ts'

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
export const lockOf = ({ scope, key }: Pick<Claim, 'scope' | 'key'>): string =>
  `idempotency ${scope} ${key}`

/** Leaves out the password, so that nobody can guess it from the stored hash. */
const hashOf = (body: unknown) =>
  sha256(canonicalJson(typeof body === 'object' ? { ...body, password: undefined } : body))

const oldest = (now: Date) => new Date(now.getTime() - keptMs)

/**
 * The responses to the first requests with these keys, by `lockOf`; a key without one is used for the first time. A key
 * whose body differs is refused. The caller holds the locks of the keys.
 */
export async function findAnswers(
  tx: Transaction,
  claims: readonly Claim[],
): Promise<Map<string, Kept>> {
  const [first] = claims
  if (!first) return new Map()
  const { rows } = await tx.query({
    name: 'find_answers',
    text: `select k.scope, k.key, k.request_hash, k.answer, k.position
             from unnest($1::text[], $2::text[]) as asked (scope, key) join write.idempotency k using (scope, key)
            where k.created_at >= $3`,
    values: [claims.map(({ scope }) => scope), claims.map(({ key }) => key), oldest(first.now)],
  })
  const rowOf = new Map(rows.map(row => [lockOf({ scope: row.scope, key: row.key }), row]))
  return new Map(
    claims.flatMap(claim => {
      const row = rowOf.get(lockOf(claim))
      if (!row) return []
      if (!claim.hash.equals(row.request_hash)) throw otherBody(claim)
      return [[lockOf(claim), { answer: row.answer, position: row.position }]]
    }),
  )
}

const otherBody = ({ key }: Claim) =>
  new Refusal(
    'conflict',
    `Idempotency-Key ${key} was already used with a different body; use a new key`,
    { code: 'idempotency.other_body' },
  )

/**
 * Stores responses in the transaction of the changes that they report. Processes of earlier versions do not take the
 * key's lock: if one of them has used a key meanwhile, the command is decided again on the new state.
 */
export async function keepAnswers(
  store: EventStore,
  tx: Transaction,
  kept: readonly { claim: Claim; answer: Kept }[],
): Promise<void> {
  const [first] = kept
  if (!first) return
  const { now } = first.claim
  const { rowCount } = await tx.query({
    name: 'keep_answers',
    text: `insert into write.idempotency as known (scope, key, request_hash, answer, position, created_at)
           select scope, key, decode(hash, 'hex'), answer, position, $2
             from jsonb_to_recordset($1) as kept (scope text, key text, hash text, answer jsonb, position text)
           on conflict (scope, key) do update
             set request_hash = excluded.request_hash, answer = excluded.answer,
                 position = excluded.position, created_at = excluded.created_at
             where known.created_at < $3`,
    values: [`[${kept.map(rowOf).join()}]`, now, oldest(now)],
  })
  if (rowCount !== kept.length) throw new ConcurrentWrite('a key was used at the same time')
  await forgetOld(store, tx, now)
}

function rowOf({ claim, answer }: { claim: Claim; answer: Kept }): string {
  const { scope, key, hash } = claim
  const row = { scope, key, hash: hash.toString('hex'), position: answer.position }
  const json = JSON.stringify(answer.answer, withoutSecrets) ?? 'null'
  return `${JSON.stringify(row).slice(0, -1)},"answer":${json}}`
}

const secretFields = new Set([
  'token',
  'SERVICE_TOKEN',
  'MLFLOW_TRACKING_TOKEN',
  'password',
  'secret',
])

const withoutSecrets = (field: string, value: unknown) => (secretFields.has(field) ? null : value)

/** How often a process deletes expired responses, in milliseconds, and at most how many at once. */
const forgetEveryMs = 60_000
const forgottenAtOnce = 10_000
/** By store; test processes have several. */
const forgottenAtMs = new WeakMap<EventStore, number>()

/** Concurrent processes skip each other's rows. */
async function forgetOld(store: EventStore, tx: Transaction, now: Date): Promise<void> {
  const lastMs = forgottenAtMs.get(store) ?? Number.NEGATIVE_INFINITY
  if (Math.abs(now.getTime() - lastMs) < forgetEveryMs) return
  forgottenAtMs.set(store, now.getTime())
  await tx.query(
    `delete from write.idempotency where (scope, key) in
       (select scope, key from write.idempotency where created_at < $1
         order by created_at limit $2 for update skip locked)`,
    [oldest(now), forgottenAtOnce],
  )
}
