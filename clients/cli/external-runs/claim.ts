import { exitCode, Failure } from '../program/failure.ts'
import { pause } from '../program/pause.ts'
import { type Address, postOnce, type Reply } from './ingest.ts'
import type { Claim, Spool } from './spool.ts'

export type Claiming = {
  claim: Claim
  /** The current access token of the person who runs the command; null when signed out. */
  personToken: () => Promise<string | null>
  spool: Spool
}

type Taken = Extract<Reply, { outcome: 'taken' }>
export type Claimed = { address: Address; shortId: string } | { why: string }

const firstWaitMs = 500
const maxWaitMs = 5000

/**
 * Creates the run, unless the outcome is unknown. Repeating it creates nothing twice: the local id is the
 * Idempotency-Key. A repeated response has no token, so another one is issued then. Throws what the server refuses.
 */
export async function claimOnce(
  { claim, personToken, spool }: Claiming,
  giveUp: AbortSignal,
): Promise<Claimed> {
  const known = await spool.address()
  if (known) return { address: known, shortId: known.run_id }
  const token = await personToken()
  if (token === null) return { why: `you are signed out; forge login --host ${claim.host}` }
  const authorization = `Bearer ${token}`
  const created = await postOnce(`${claim.host}/api/runs`, {
    headers: { authorization, 'idempotency-key': spool.reportId },
    body: claim.body,
    giveUp,
  })
  if (created.outcome !== 'taken') return unlessRefused(created, claim.host)
  const runId = String(created.body.run_id)
  const issued = hasToken(created)
    ? created
    : await postOnce(`${claim.host}/api/runs/${runId}/token`, {
        headers: { authorization },
        body: {},
        giveUp,
      })
  if (issued.outcome !== 'taken') return unlessRefused(issued, claim.host)
  // The address that worked for us works for a command on this machine.
  const endpoint = `${claim.host}/api/ingest`
  const address = { endpoint, run_id: runId, token: String(issued.body.token) }
  return { address, shortId: String(created.body.short_id) }
}

/** Until it is created, or given up. */
export async function claimSometime(
  claiming: Claiming,
  giveUp: AbortSignal,
): Promise<{ address: Address; shortId: string } | null> {
  for (let wait = firstWaitMs; !giveUp.aborted; wait = Math.min(maxWaitMs, wait * 2)) {
    await pause(wait / 2 + (Math.random() * wait) / 2, giveUp)
    if (giveUp.aborted) break
    // A refusal may pass too, for instance once the person has signed in again.
    const claimed = await claimOnce(claiming, giveUp).catch((error: Error) => ({
      why: error.message,
    }))
    if ('address' in claimed) return claimed
  }
  return null
}

const hasToken = ({ body }: Taken): boolean => typeof body.token === 'string'

function unlessRefused(reply: Exclude<Reply, Taken>, host: string): { why: string } {
  const { outcome, why, status } = reply
  if (status === 401)
    throw new Failure(exitCode.auth, why, { lines: [`hint: forge login --host ${host}`] })
  if (status === 403) throw new Failure(exitCode.auth, why)
  if (outcome === 'refused')
    throw new Failure(status === 422 ? exitCode.usage : exitCode.refused, why)
  return { why }
}
