import type { Context } from 'koa'
import { clientAddress, clientNetwork } from '../../platform/http/client-address.ts'
import type { Transaction } from '../commit/event-store.ts'

/** How many networks are remembered per person: home, work, a phone, and some travel. */
const maxNetworks = 16

export const networkOf = (ctx: Context): string => clientNetwork(clientAddress(ctx))

/**
 * Remembers that this person has signed in from here, and forgets the network used longest ago. The transaction must hold the
 * lock on the person's stream, so that concurrent sign-ins take turns.
 */
export async function rememberNetwork(
  tx: Transaction,
  { username, ctx, now }: { username: string; ctx: Context; now: Date },
): Promise<void> {
  const network = networkOf(ctx)
  await tx.query(
    `insert into auth.sign_in_network (username, network, last_at) values ($1, $2, $3)
         on conflict (username, network) do update set last_at = excluded.last_at`,
    [username, network, now],
  )
  await tx.query(
    `delete from auth.sign_in_network where username = $1 and network in
       (select network from auth.sign_in_network where username = $1
         order by network = $2 desc, last_at desc, network offset $3)`,
    [username, network, maxNetworks],
  )
}
