import { useState } from 'react'
import { reread } from '../../session/api.ts'
import { type Method, request } from '../../session/session.ts'

/** Sends changes and rereads the affected data; holds the failure of the last one. */
export function useChange(...rereads: string[]) {
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  /** Returns the response, or undefined if it was refused. */
  const send = async <T>(method: Method, path: string, body?: unknown): Promise<T | undefined> => {
    setBusy(true)
    setError(null)
    try {
      const answer = await request<T>(method, path, body === undefined ? {} : { body })
      await reread(...rereads)
      return answer
    } catch (failure) {
      setError(failure)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { send, error, isBusy }
}
