import { useEffect, useRef } from 'react'
import { isField } from '../../shell/keys.ts'

type Keys = Readonly<Record<string, () => void>>

/** Keys of the page, wherever the focus is but for fields and dialogs; on a control, Enter and Space belong to it. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const act = isForPage(event) ? latest.current[event.key] : undefined
      if (!act) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

function isForPage(event: KeyboardEvent): boolean {
  const { target, key } = event
  if (event.defaultPrevented || event.repeat) return false
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  if (isField(target) || document.querySelector('dialog[open]')) return false
  const isOnControl = target instanceof HTMLElement && target.closest('button, a') !== null
  return !(isOnControl && (key === 'Enter' || key === ' '))
}
