import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Loading } from '../../design/notice.tsx'
import { usePart } from '../../design/use-part.ts'
import { useWords } from '../../words/words.ts'
import { nameOf } from './view-state.ts'
import { words } from './words.ts'

type Props = { project: string; mayConfigure: boolean }

const loadList = () => import('./view-list.tsx')

/** The saved views of a project: opens, saves, renames, replaces, shares and deletes them. */
export function Views({ project, mayConfigure }: Props) {
  const say = useWords(words)
  const { view } = useSearch({ strict: false })
  const [isOpen, setOpen] = useState(false)
  const list = usePart(isOpen ? loadList : null)
  const close = () => setOpen(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        {view === undefined ? say.views : say.viewNamed(nameOf(view, say))}
      </Button>
      {isOpen && (
        <Dialog title={say.viewsOf(project)} onClose={close}>
          {list ? <list.ViewList {...{ project, mayConfigure }} onClose={close} /> : <Loading />}
        </Dialog>
      )}
    </>
  )
}
