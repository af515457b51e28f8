import { useEffect, useRef } from 'react'
import { follow, type Listener } from './hub.ts'

/** Follows a topic while the component is mounted; null follows nothing. */
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

/**
 * Calls `work` at most once in `ms` and never while it is running, and once more after the last call. A repeated read
 * would abort the one in progress: on a slow line none would ever finish.
 */
export function useThrottled(work: () => unknown, ms: number): () => void {
  const latest = useRef(work)
  latest.current = work
  const throttle = useRef<Throttle | null>(null)
  throttle.current ??= createThrottle(() => latest.current(), ms)
  useEffect(() => throttle.current?.stop, [])
  return throttle.current.call
}

type Throttle = { call: () => void; stop: () => void }

function createThrottle(work: () => unknown, ms: number): Throttle {
  let timer: ReturnType<typeof setTimeout> | null = null
  let isBusy = false
  let isAsked = false
  let lastAt = 0
  const run = async () => {
    timer = null
    isBusy = true
    isAsked = false
    lastAt = Date.now()
    try {
      await work()
    } finally {
      isBusy = false
      if (isAsked) call()
    }
  }
  const call = () => {
    isAsked = true
    if (isBusy || timer !== null) return
    timer = setTimeout(() => void run(), Math.max(0, lastAt + ms - Date.now()))
  }
  const stop = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    isAsked = false
  }
  return { call, stop }
}
