import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { PlaygroundSession } from '../../../../../schemas/playground.ts'
import { reading } from '../../session/api.ts'
import { request } from '../../session/session.ts'

const againMs = 1_000

/** A session on a revision, opened with the choice and closed with the page. */
export function useSession(revisionId: string | null) {
  const [opened, setOpened] = useState<PlaygroundSession | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setOpened(null)
    setError(null)
    if (revisionId === null) return
    let isOver = false
    const close = (one: PlaygroundSession) =>
      void request('DELETE', `/api/playground/${one.session_id}`).catch(() => {})
    const opening = request<PlaygroundSession>('POST', '/api/playground', {
      body: { source: { revision_id: revisionId } },
    })
    opening.then(
      one => (isOver ? close(one) : setOpened(one)),
      failure => !isOver && setError(failure),
    )
    return () => {
      isOver = true
      opening.then(close, () => {})
    }
  }, [revisionId])
  const path = `/api/playground/${opened?.session_id}`
  const now = useQuery({
    ...reading<PlaygroundSession>(path),
    enabled: opened !== null,
    refetchInterval: againMs,
  })
  return { session: opened && (now.data ?? opened), error: error ?? now.error }
}
