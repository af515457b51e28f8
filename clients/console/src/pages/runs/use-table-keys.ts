import { useEffect, useRef } from 'react'
import { isField } from '../../shell/keys.ts'
import { type Place, type TableKey, tableKeyOf } from './table-keys.ts'

/** Calls `act` for the keys of the table, wherever on the page the focus is. */
export function useTableKeys(
  box: { readonly current: HTMLElement | null },
  act: (key: TableKey) => void,
): void {
  const latest = useRef(act)
  latest.current = act
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const key = event.defaultPrevented
        ? null
        : tableKeyOf(event, targetPlaceOf(event.target, box.current))
      if (key === null) return
      event.preventDefault()
      latest.current(key)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [box])
}

/** A new page has the focus on its main part, which has nothing to press. */
const isNowhere = (target: HTMLElement) => target === document.body || target.tagName === 'MAIN'

function targetPlaceOf(target: EventTarget | null, box: HTMLElement | null): Place {
  if (document.querySelector('dialog[open]')) return 'dialog'
  if (!(target instanceof HTMLElement) || isNowhere(target) || target === box) return 'table'
  if (target.closest('[role="dialog"], [role="menu"]')) return 'dialog'
  const isBox = target instanceof HTMLInputElement && target.type === 'checkbox'
  return isField(target) && !isBox ? 'field' : 'control'
}
