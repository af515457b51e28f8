/** The keys of the whole console; pages add their own and list them with `useKeys`. */
export const goKeys = {
  h: '/',
  r: '/runs',
  q: '/queue',
  s: '/submit',
  n: '/notifications',
  a: '/admin',
} as const

export type GoKey = keyof typeof goKeys

export type Pressed =
  | { do: 'palette' }
  | { do: 'map' }
  | { do: 'go'; to: (typeof goKeys)[GoKey] }
  | { do: 'prefix' }
  | null

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

/** The meaning of a key. `afterG`: the previous one was `g`; `isTyping`: the focus is in a field. */
export function meaningOf(
  press: Press,
  { afterG, isTyping }: { afterG: boolean; isTyping: boolean },
): Pressed {
  if ((press.ctrlKey || press.metaKey) && press.key.toLowerCase() === 'k') return { do: 'palette' }
  if (isTyping || press.ctrlKey || press.metaKey || press.altKey) return null
  if (afterG && press.key in goKeys) return { do: 'go', to: goKeys[press.key as GoKey] }
  if (press.key === 'g') return { do: 'prefix' }
  return press.key === '?' ? { do: 'map' } : null
}

export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
