import { useEffect, useRef } from 'react'
import { follow, type Listener } from './hub.ts'

/** Follows a topic as long as the component is there; null follows nothing. */
export function useLive(topic: string | null, listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    if (topic === null) return
    return follow(topic, {
      onEvent: event => latest.current.onEvent(event),
      onGap: () => latest.current.onGap(),
    })
  }, [topic])
}

/** Calls `work` at most once in `ms`, and once more after the last call. */
export function useThrottled(work: () => void, ms: number): () => void {
  const latest = useRef(work)
  latest.current = work
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const lastAt = useRef(0)
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current)
    },
    [],
  )
  return () => {
    if (timer.current !== null) return
    const restMs = Math.max(0, lastAt.current + ms - Date.now())
    timer.current = setTimeout(() => {
      timer.current = null
      lastAt.current = Date.now()
      latest.current()
    }, restMs)
  }
}
