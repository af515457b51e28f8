import { createStore } from '../../session/store.ts'
import type { Muted } from './groups.ts'

const key = 'forge.muted'
const most = 200

const stored = (): Muted => {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(found) ? found.filter(one => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** What this browser does not show; the entries stay in the feed. */
export const muted = createStore<Muted>(stored())

const keep = (next: Muted) => {
  localStorage.setItem(key, JSON.stringify(next))
  muted.set(next)
}

export const mute = (what: string): void => keep([...new Set([...muted.get(), what])].slice(-most))

export const unmute = (what: string): void => keep(muted.get().filter(one => one !== what))
