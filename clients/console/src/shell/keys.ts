export type Pressed<To> =
  | { do: 'palette' }
  | { do: 'map' }
  | { do: 'go'; to: To }
  | { do: 'prefix' }
  | null

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

/**
 * The meaning of a key in the whole console; pages add their own and list them with `useKeys`. `afterG`: the previous one was
 * `g`, so the key may open one of `goKeys`; `isTyping`: the focus is in a field.
 */
export function meaningOf<To>(
  press: Press,
  goKeys: ReadonlyMap<string, To>,
  { afterG, isTyping }: { afterG: boolean; isTyping: boolean },
): Pressed<To> {
  if ((press.ctrlKey || press.metaKey) && press.key.toLowerCase() === 'k') return { do: 'palette' }
  if (isTyping || press.ctrlKey || press.metaKey || press.altKey) return null
  const to = afterG ? goKeys.get(press.key) : undefined
  if (to !== undefined) return { do: 'go', to }
  if (press.key === 'g') return { do: 'prefix' }
  return press.key === '?' ? { do: 'map' } : null
}

export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
