import { Refusal } from '../../platform/refusal.ts'
import type { Transaction } from '../commit/event-store.ts'

/**
 * Two admins who demote each other at the same time change two streams, so the stream locks do not serialize them;
 * this lock does.
 */
export const lastAdminLock = 'the last admin'

const code = 'users.last_admin'

/** Refuses a change that leaves no enabled admin; call it after the change, under `lastAdminLock`. */
export async function keepAnAdmin(tx: Transaction): Promise<void> {
  const { rowCount } = await tx.query(
    `select 1 from auth.person where role = 'admin' and not disabled limit 1`,
  )
  if (rowCount === 0)
    throw new Refusal(
      'conflict',
      'This is the last admin who can sign in; make somebody else an admin first',
      { code },
    )
}

export const isLastAdmin = (error: unknown): boolean =>
  error instanceof Refusal && error.extras.code === code
