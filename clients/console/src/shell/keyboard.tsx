import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { usePart } from '../design/use-part.ts'
import { goKeys } from '../pages/all.ts'
import { isField, meaningOf } from './keys.ts'
import { useTypedAhead } from './typed-ahead.ts'

const loadPalette = () => import('./palette.tsx')
const loadMap = () => import('./key-map.tsx')

/** The keys of the whole console, and the dialogs that they open. */
export function Keyboard() {
  const [open, setOpen] = useState<'palette' | 'map' | null>(null)
  const palette = usePart(open === 'palette' ? loadPalette : null)
  const map = usePart(open === 'map' ? loadMap : null)
  const take = useTypedAhead(open === 'palette' && palette === null)
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
    <>
      {palette && <palette.Palette onOpen={take} onClose={close} />}
      {map && <map.KeyMap onClose={close} />}
    </>
  )
}
