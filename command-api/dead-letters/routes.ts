import { type Route, route } from '../../auth/route.ts'
import { type DeadLetterEvent, deadLetters } from '../../events/dead-letters.ts'
import { isBusy, isOutage } from '../../platform/postgres/pool.ts'
import { Refusal } from '../../platform/refusal.ts'
import { deadLetterReply, letterPath } from '../../schemas/dead-letters.ts'
import type { HttpAsked } from '../commit/asked.ts'
import { create } from '../commit/commit.ts'
import type { Transaction } from '../commit/event-store.ts'
import type { Deps } from '../deps.ts'

/** A parked record, identified by its position on the log. */
export type Letter = { topic: string; partition: number; offset: bigint }

/**
 * The projector's operations on parked records; provided by server/. The first two return the record's key, or null if it is
 * gone, and refuse during a rebuild.
 */
export type ParkedRecords = {
  replay(tx: Transaction, letter: Letter): Promise<string | null>
  drop(tx: Transaction, letter: Letter): Promise<string | null>
  /** Notifies readers; call it after the commit of a replay. */
  replayed(letter: Letter, key: string): void
}

export const deadLetterRoutes = (deps: Deps, parked: ParkedRecords): Route[] => [
  route({
    method: 'POST',
    path: '/api/admin/dead-letters/{letter_id}/replay',
    credential: 'admin',
    tag: 'admin',
    summary: 'Apply a parked record after all, as the newest report of its run',
    params: letterPath,
    response: deadLetterReply,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const letter = letterOf(request.params.letter_id)
      const apply = (tx: Transaction) => parked.replay(tx, letter).catch(stillPoison)
      parked.replayed(letter, await handleLetter(deps, request, 'dead_letter.replayed', apply))
      return { letter_id: request.params.letter_id, state: 'replayed' }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/admin/dead-letters/{letter_id}',
    credential: 'admin',
    recentSignIn: true,
    tag: 'admin',
    summary: 'Drop a parked record: its report is lost',
    params: letterPath,
    response: deadLetterReply,
    refusals: ['not_found', 'conflict'],
    async handle(request) {
      const letter = letterOf(request.params.letter_id)
      await handleLetter(deps, request, 'dead_letter.dropped', tx => parked.drop(tx, letter))
      return { letter_id: request.params.letter_id, state: 'dropped' }
    },
  }),
]

function letterOf(letter_id: string): Letter {
  const [topic = '', partition = '', offset = ''] = letter_id.split(':')
  return { topic, partition: Number(partition), offset: BigInt(offset) }
}

function stillPoison(error: unknown): never {
  if (error instanceof Refusal || isOutage(error) || isBusy(error)) throw error
  throw new Refusal('conflict', `The record still cannot be applied: ${error}`, {
    code: 'dead_letter.not_applicable',
    cause: error,
  })
}

type Asked = HttpAsked & { params: { letter_id: string } }

/** The event and its effect commit together. Returns the key of the record. */
function handleLetter(
  deps: Deps,
  asked: Asked,
  type: DeadLetterEvent['type'],
  take: (tx: Transaction) => Promise<string | null>,
): Promise<string> {
  const { letter_id } = asked.params
  const { offset, ...place } = letterOf(letter_id)
  const target = deadLetters.at(letter_id)
  return create(deps, asked, target, {
    async make({ tx, decide }) {
      const key = await take(tx)
      if (key === null) throw new Refusal('not_found', `No such parked record: ${letter_id}`)
      const data = { letter_id, ...place, offset: Number(offset), key }
      await decide(target, { decide: () => [{ type, data }] })
      return key
    },
  })
}
