import type { Context } from 'koa'
import type { Person } from '../../auth/caller.ts'
import type { HttpAsked } from '../commit/asked.ts'
import type { Transaction } from '../commit/event-store.ts'

type Opening = {
  username: string
  role: 'admin' | 'operator'
  requestId: string
  ctx: Context
  alongside: (tx: Transaction) => Promise<void>
}

/** What passkeys need of sessions. */
export type PasskeyPorts = {
  openPasskeySession: (opening: Opening) => Promise<{ token: string }>
  /** Makes the sign-in of the caller's session a recent one. */
  confirmOwnSession: (
    request: HttpAsked & { caller: Person },
    alongside: (tx: Transaction) => Promise<void>,
  ) => Promise<unknown>
}
