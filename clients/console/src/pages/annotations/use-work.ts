import { useCallback, useEffect, useRef, useState } from 'react'
import { reread } from '../../session/api.ts'
import { ApiFailure } from '../../session/failure.ts'
import { request } from '../../session/session.ts'
import { type Answer, type Claim, pathOf } from './paths.ts'

/** What became of an answer that came too late: a draft of this item, or the item is gone. */
export type Late = 'kept' | 'taken' | null

export type Work = {
  claim: Claim | null
  isBusy: boolean
  error: unknown
  late: Late
  answer: (given: Partial<Answer>) => void
  skip: () => void
  undo: () => void
  /** Looks for an item again. */
  next: () => void
}

/** Claims items one after the other, and sends answers, skips and undos. One request at a time. */
export function useWork(queue_id: string): Work {
  const path = pathOf(queue_id)
  const [claim, setClaim] = useState<Claim | null>(null)
  const [isBusy, setBusy] = useState(true)
  const [error, setError] = useState<unknown>(null)
  const [late, setLate] = useState<Late>(null)
  const busy = useRef(false)

  const run = useCallback(
    async (act: () => Promise<Late>) => {
      if (busy.current) return
      busy.current = true
      setBusy(true)
      try {
        const how = await act()
        setClaim(await request<Claim>('POST', `${path}/claims`))
        setLate(how)
        setError(null)
      } catch (failure) {
        setError(failure)
      } finally {
        busy.current = false
        setBusy(false)
      }
      await reread(path)
    },
    [path],
  )
  useEffect(() => void run(async () => null), [run])

  const item = claim?.item?.item ?? null
  const last = claim?.last ?? null
  const send = (what: 'answers' | 'skips' | 'undo', body: object) => async (): Promise<Late> => {
    try {
      await request('POST', `${path}/${what}`, { body })
      return null
    } catch (failure) {
      if (!(failure instanceof ApiFailure) || failure.code !== 'annotation.lease_ended')
        throw failure
      return what === 'answers' ? 'kept' : null
    }
  }
  return {
    ...{ claim, isBusy, error, late },
    answer: answer => {
      if (item !== null) void run(send('answers', { item, answer }))
    },
    skip: () => {
      if (item !== null) void run(send('skips', { item }))
    },
    undo: () => {
      if (last !== null) void run(send('undo', last))
    },
    next: () => void run(async () => null),
  }
}
