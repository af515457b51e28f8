import { useEffect, useRef } from 'react'
import { isField } from '../../shell/keys.ts'

type Keys = Readonly<Record<string, () => void>>

/** Keys of the page, wherever the focus is but for fields, dialogs and menus. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.repeat || isField(event.target) || document.querySelector('dialog[open]')) return
      const isControl =
        event.target instanceof HTMLElement && event.target.closest('button, a, [role="menu"]')
      if (isControl && (event.key === 'Enter' || event.key === ' ')) return
      const act = latest.current[event.key]
      if (!act) return
      event.preventDefault()
      act()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
