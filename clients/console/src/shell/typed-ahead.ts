import { useCallback, useEffect, useRef } from 'react'

/** Keeps the text typed for a dialog while its code is loading. Returns a function that hands it over, once. */
export function useTypedAhead(isLoading: boolean): () => string {
  const typed = useRef('')
  useEffect(() => {
    if (!isLoading) return
    const keep = (event: KeyboardEvent) => {
      if (!isCharacter(event)) return
      typed.current += event.key
      event.preventDefault()
      event.stopPropagation()
    }
    document.addEventListener('keydown', keep, { capture: true })
    return () => document.removeEventListener('keydown', keep, { capture: true })
  }, [isLoading])
  return useCallback(() => {
    const text = typed.current
    typed.current = ''
    return text
  }, [])
}

const isCharacter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  [...key].length === 1 && !ctrlKey && !metaKey && !altKey
