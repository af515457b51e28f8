import type { Caller } from '../auth/caller.ts'
import { sha256 } from '../auth/opaque-token.ts'
import { canonicalJson } from '../platform/digest.ts'
import { Refusal } from '../platform/refusal.ts'
import { answerPosition, type Deps } from './deps.ts'
import type { Transaction } from './event-store.ts'

export type Created<T> = { answer: T; position: string }

type Asked = {
  caller: Caller
  body: unknown
  requestId: string
  ctx: {
    method: string
    path: string
    get: (name: string) => string
    set: (name: string, value: string) => void
  }
}

/** How long a response is kept for its key, in milliseconds. */
const keptMs = 24 * 3_600_000
const maxKeyLength = 255

class Replayed extends Error {
  readonly answer: unknown
  readonly position: string
  constructor(answer: unknown, position: string) {
    super('answered before')
    this.answer = answer
    this.position = position
  }
}

/**
 * Creates something in one transaction, once for each `Idempotency-Key` of a person and route: the same
 * key and body get the first answer again, without its secrets; another body is 409. The claim of the key,
 * what is created and the answer commit together, so a crash leaves either all of it or nothing, and a
 * second request with the key waits for the first.
 */
export async function createOnce<T>(
  deps: Deps,
  request: Asked,
  create: (tx: Transaction) => Promise<Created<T>>,
): Promise<T> {
  const claim = claimOf(request, deps.now())
  try {
    const { answer, position } = await deps.store.transaction(async tx => {
      if (claim) await take(tx, claim)
      const created = await create(tx)
      if (claim) await keep(tx, claim, created)
      return created
    })
    answerPosition(deps, request, position)
    return answer
  } catch (error) {
    if (!(error instanceof Replayed)) throw error
    request.ctx.set('Idempotency-Replayed', 'true')
    answerPosition(deps, request, error.position)
    return error.answer as T
  }
}

type Claim = { scope: string; key: string; hash: Buffer; now: Date }

function claimOf({ caller, body, ctx }: Asked, now: Date): Claim | null {
  const key = ctx.get('idempotency-key')
  if (key === '') return null
  if (key.length > maxKeyLength)
    throw new Refusal(
      'invalid',
      `Idempotency-Key has ${key.length} characters; ${maxKeyLength} are the most`,
    )
  const who = caller.kind === 'person' ? caller.username : caller.kind
  return { scope: `${who} ${ctx.method} ${ctx.path}`, key, hash: hashOf(body), now }
}

/** Without the password, so that nobody can guess it from the stored hash. */
const hashOf = (body: unknown) =>
  sha256(canonicalJson(typeof body === 'object' ? { ...body, password: undefined } : body))

/** Takes the key for this transaction, or throws what its first use answered. Waits for a first use at work. */
async function take(tx: Transaction, { scope, key, hash, now }: Claim): Promise<void> {
  await tx.query('delete from write.idempotency where created_at < $1', [
    new Date(now.getTime() - keptMs),
  ])
  const { rowCount } = await tx.query(
    `insert into write.idempotency (scope, key, request_hash, created_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [scope, key, hash, now],
  )
  if (rowCount === 1) return
  const { rows } = await tx.query(
    'select request_hash, answer, position from write.idempotency where scope = $1 and key = $2',
    [scope, key],
  )
  const first = rows[0]
  if (!first || !hash.equals(first.request_hash))
    throw new Refusal(
      'conflict',
      `Idempotency-Key ${key} was used with another body; use a new key`,
      {
        code: 'idempotency.other_body',
      },
    )
  throw new Replayed(first.answer, first.position)
}

async function keep<T>(
  tx: Transaction,
  { scope, key }: Claim,
  { answer, position }: Created<T>,
): Promise<void> {
  await tx.query(
    'update write.idempotency set answer = $3, position = $4 where scope = $1 and key = $2',
    [scope, key, JSON.stringify(answer, withoutSecrets), position],
  )
}

const secretFields = new Set(['token', 'SERVICE_TOKEN', 'password', 'secret'])

const withoutSecrets = (field: string, value: unknown) => (secretFields.has(field) ? null : value)
