import { type ComponentProps, type ReactNode, useState } from 'react'
import { useWords, wordsOf } from '../words/words.ts'
import { Button } from './button.tsx'
import { Markdown } from './markdown.tsx'
import { Loading } from './notice.tsx'
import { Panel } from './panel.tsx'
import { useFocusBack } from './use-focus-back.ts'
import { usePart } from './use-part.ts'
import type { WrittenEditor } from './written-editor.tsx'

const words = wordsOf({ edit: ['Edit', '编辑'] })

type Props = Omit<ComponentProps<typeof WrittenEditor>, 'title' | 'onClose'> & {
  title: string
  canEdit: boolean
  /** The button while there is no text yet. */
  add?: string
  /** Shown while there is no text yet. */
  none?: ReactNode
}

const loadEditor = () => import('./written-editor.tsx')

/** A text in Markdown that people write together, edited in place. */
export function Written({ title, canEdit, add, none, ...text }: Props) {
  const say = useWords(words)
  const [isEditing, setEditing] = useState(false)
  const edit = useFocusBack(isEditing)
  const editor = usePart(isEditing ? loadEditor : null)
  return (
    <Panel
      title={title}
      actions={
        canEdit &&
        !isEditing && (
          <Button ref={edit} kind="quiet" onClick={() => setEditing(true)}>
            {text.text === '' && add !== undefined ? add : say.edit}
          </Button>
        )
      }
    >
      {isEditing ? (
        editor === null ? (
          <Loading />
        ) : (
          <editor.WrittenEditor {...text} title={title} onClose={() => setEditing(false)} />
        )
      ) : text.text === '' ? (
        none
      ) : (
        <Markdown text={text.text} />
      )}
    </Panel>
  )
}
