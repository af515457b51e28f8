import { ApiFailure } from './failure.ts'
import { createStore } from './store.ts'

/** A request that was refused until its person confirms who they are. */
export type Refused = {
  method: string
  path: string
  /** How they can confirm it; the request says so, because in maintenance the ways to sign in cannot be read. */
  by: 'password' | 'provider'
  /** False: they do not want to. */
  end(isConfirmed: boolean): void
}

/** The request for which the page asks now. */
export const refused = createStore<Refused | null>(null)

let asking: Promise<boolean> | null = null

/**
 * Asks on the page if the request failed for want of a recent sign-in; false: it cannot be sent again. Requests that are refused
 * meanwhile share the outcome.
 */
export async function isConfirmed(
  error: unknown,
  { method, path }: { method: string; path: string },
): Promise<boolean> {
  if (!(error instanceof ApiFailure) || error.code !== 'sign_in_again') return false
  const by = isByPassword(error) ? 'password' : 'provider'
  asking ??= new Promise(resolve => {
    const end = (is: boolean) => {
      asking = null
      refused.set(null)
      resolve(is)
    }
    refused.set({ method, path, by, end })
  })
  return await asking
}

const isByPassword = ({ body: { data } }: ApiFailure): boolean =>
  (data as { confirm_with?: unknown } | undefined)?.confirm_with === 'password'
