import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { goKeys } from '../pages/all.ts'
import { isField, meaningOf } from './keys.ts'

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))
const KeyMap = lazy(async () => ({ default: (await import('./key-map.tsx')).KeyMap }))

/** The keys of the whole console, and the dialogs that they open. */
export function Keyboard() {
  const [open, setOpen] = useState<'palette' | 'map' | null>(null)
  const navigate = useNavigate()
  const afterG = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = isField(event.target)
      const meant = meaningOf(event, goKeys, {
        afterG: Date.now() - afterG.current < 1_500,
        isTyping,
      })
      afterG.current = meant?.do === 'prefix' ? Date.now() : 0
      if (meant === null || meant.do === 'prefix') return
      event.preventDefault()
      if (meant.do === 'go') void navigate({ to: meant.to })
      else setOpen(meant.do)
    }
    const onAsk = () => setOpen('palette')
    document.addEventListener('keydown', onKey)
    document.addEventListener('forge:palette', onAsk)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('forge:palette', onAsk)
    }
  }, [navigate])
  const close = () => setOpen(null)
  return (
    <Suspense fallback={null}>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'map' && <KeyMap onClose={close} />}
    </Suspense>
  )
}
