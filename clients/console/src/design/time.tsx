import { useSyncExternalStore } from 'react'
import { createStore } from '../session/store.ts'
import { agoOf, lengthOf } from '../words/amounts.ts'
import { useLanguage } from '../words/words.ts'

/** The current second, in milliseconds of the epoch; one clock for everything that shows an age. */
const clock = createStore(Date.now())
setInterval(() => {
  if (!document.hidden) clock.set(Date.now())
}, 1_000)

const useNow = (everyMs: number): number =>
  useSyncExternalStore(clock.subscribe, () => Math.floor(clock.get() / everyMs) * everyMs)

/** The current second, in milliseconds of the epoch. */
export const useSeconds = (): number => useNow(1_000)

/** How long ago, with the exact time on hover. */
export function Ago({ at }: { at: string }) {
  const now = useNow(10_000)
  const language = useLanguage()
  const time = new Date(at)
  return (
    <time dateTime={at} title={time.toLocaleString(language)}>
      {agoOf(time.getTime(), Math.max(now, time.getTime()), language)}
    </time>
  )
}

/** How long something has lasted; up to now if it has no end. */
export function Length({ from, to }: { from: string; to: string | null }) {
  const now = useSeconds()
  const end = to === null ? now : Date.parse(to)
  return <span>{lengthOf((end - Date.parse(from)) / 1000)}</span>
}
