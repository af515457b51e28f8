import { setTimeout } from 'node:timers/promises'
import { ulid } from 'ulid'
import { ingestTtlMs } from '../../auth/authenticate.ts'
import { createOpaqueToken } from '../../auth/opaque-token.ts'
import type { Transaction } from '../commit/event-store.ts'

/** Lifetime of an ingest token (specification, "Limits"). */
const lifetimeDays = 30

export type IssuedToken = { token: string; token_id: string; expires_at: Date }

/** A new ingest token of a run; only its hash is stored, so it can be shown only once. */
export async function issueIngestToken(
  tx: Transaction,
  { run_id, now }: { run_id: string; now: Date },
): Promise<IssuedToken> {
  const { id, token, sha256 } = createOpaqueToken('fit', ulid())
  const expires_at = new Date(now.getTime() + lifetimeDays * 86_400_000)
  await tx.query(
    `insert into auth.ingest_token (token_id, secret_sha256, run_id, created_at, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [id, sha256, run_id, now, expires_at],
  )
  return { token, token_id: id, expires_at }
}

/** Ends every ingest token of a run, for instance when a new one replaces them; returns how many. */
export async function endIngestTokens(tx: Transaction, run_id: string, now: Date): Promise<number> {
  const { rowCount } = await tx.query(
    'update auth.ingest_token set ended_at = $2 where run_id = $1 and ended_at is null',
    [run_id, now],
  )
  return rowCount ?? 0
}

/** Timers may fire early by a millisecond. */
const spareMs = 20

/**
 * Waits, after the commit that ended a token, until no process accepts it from its cache any longer. Asking the database at
 * every report instead would burden all of them for the sake of a rare command.
 */
export const untilTokensAreForgotten = (): Promise<void> => setTimeout(ingestTtlMs + spareMs)

/** Ends the ingest tokens of a person's external runs; running jobs keep theirs. */
export async function endExternalIngestTokens(
  tx: Transaction,
  username: string,
  now: Date,
): Promise<void> {
  await tx.query(
    `update auth.ingest_token set ended_at = $2
      where ended_at is null
        and run_id in (select run_id from write.run_state where owner = $1 and source = 'external')`,
    [username, now],
  )
}
