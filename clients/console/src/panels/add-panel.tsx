import { useState } from 'react'
import { Button } from '../design/button.tsx'
import { usePart } from '../design/use-part.ts'
import { useWords } from '../words/words.ts'
import type { Names } from './editor.tsx'
import { menuWords } from './menu-words.ts'
import { isFull } from './panel.ts'
import type { Pinned } from './pinned.tsx'

const loadEditor = () => import('./editor.tsx')

/** Opens the form of a new panel, which becomes the last one. */
export function AddPanel({ pinned, names }: { pinned: Pinned; names: Names }) {
  const say = useWords(menuWords)
  const [isOpen, setOpen] = useState(false)
  const editor = usePart(isOpen ? loadEditor : null)
  return (
    <>
      <Button onClick={() => setOpen(true)} unless={isFull(pinned.panels) && say.full}>
        {say.add}
      </Button>
      {isOpen && editor && (
        <editor.Editor
          panel={null}
          names={names}
          onClose={() => setOpen(false)}
          onSave={panel => {
            setOpen(false)
            pinned.setPanels([...pinned.panels, panel])
          }}
        />
      )}
    </>
  )
}
