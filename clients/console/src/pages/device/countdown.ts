import { useEffect, useState } from 'react'

const secondsUntil = (at: string): number => Math.ceil((Date.parse(at) - Date.now()) / 1000)

/** Seconds until a moment, counted down. */
export function useSecondsUntil(at: string): number {
  const [left, setLeft] = useState(() => secondsUntil(at))
  useEffect(() => {
    setLeft(secondsUntil(at))
    const timer = setInterval(() => setLeft(secondsUntil(at)), 1_000)
    return () => clearInterval(timer)
  }, [at])
  return left
}

/** `14 min 05 s` */
export const leftOf = (seconds: number): string =>
  `${Math.floor(Math.max(0, seconds) / 60)} min ${String(Math.max(0, seconds) % 60).padStart(2, '0')} s`
