import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { useAct } from '../../session/use-act.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { changeView, removeView, saveView, type ViewRow } from './use-views.ts'
import { nameOf, stateOf } from './view-state.ts'
import { viewWords } from './view-words.ts'
import { words } from './words.ts'

type Props = {
  project: string
  mayConfigure: boolean
  username: string
  row: ViewRow
  act: (work: Promise<unknown>) => void
  /** Why a view cannot get this name; null if it can. */
  check: (view: string) => Promise<string | null>
  onOpen: () => void
}

/** A saved view, and what may be done with it. */
export function Row({ row, project, mayConfigure, username, act, check, onOpen }: Props) {
  const say = { ...useWords(words), ...useWords(viewWords) }
  const [isNaming, setNaming] = useState(false)
  const [asked, setAsked] = useState<Asked | null>(null)
  const { view, owner, shared } = row
  const name = nameOf(view, say)
  const isMine = owner === username
  const rename = async (to: string): Promise<string | null> => {
    const fault = to === view ? null : await check(to)
    if (fault !== null) return fault
    setNaming(false)
    if (to !== view) await changeView(project, row, { view: to, shared })
    return null
  }
  if (isNaming)
    return <Renaming {...{ name, view, act, rename }} onCancel={() => setNaming(false)} />
  const button = (text: string, onClick: () => void) => (
    <Button kind="quiet" aria-label={`${text}: ${name}`} onClick={onClick}>
      {text}
    </Button>
  )
  return (
    <li>
      <Button kind="quiet" className={styles.viewName} onClick={onOpen}>
        {name}
      </Button>
      <span className={styles.soft}>{readersOf(row, isMine, say)}</span>
      {isMine && button(say.rename, () => setNaming(true))}
      {isMine && button(say.replace, () => setAsked('replace'))}
      {isMine &&
        button(shared ? say.unshare : say.share, () =>
          act(changeView(project, row, { view, shared: !shared })),
        )}
      {(isMine || (owner === null && mayConfigure)) &&
        button(say.deleteView, () => setAsked('delete'))}
      {asked && <Question {...{ asked, project, row }} onClose={() => setAsked(null)} />}
    </li>
  )
}

type Readers = { ofProject: string; shared: string; mine: string }

const readersOf = ({ owner, shared }: ViewRow, isMine: boolean, say: Readers): string => {
  if (owner === null) return say.ofProject
  return isMine ? say[shared ? 'shared' : 'mine'] : owner
}

type Asked = 'delete' | 'replace'
type QuestionProps = { asked: Asked; project: string; row: ViewRow; onClose: () => void }

/** Before the state of a view is lost. */
function Question({ asked, project, row: { view, shared }, onClose }: QuestionProps) {
  const say = { ...useWords(words), ...useWords(viewWords) }
  const search = useSearch({ strict: false })
  const { act, error, isBusy: busy } = useAct()
  const name = nameOf(view, say)
  const isDelete = asked === 'delete'
  const work = async () => {
    if (isDelete) await removeView(project, view)
    else await saveView(project, view, { state: stateOf(search), shared })
    onClose()
  }
  return (
    <Ask
      title={isDelete ? say.deleteTitle(name) : say.replaceTitle(name)}
      text={isDelete ? say.deleteView : say.replace}
      isDangerous={isDelete}
      {...{ busy, error, onClose }}
      onYes={() => void act(work)}
    >
      <p>{isDelete ? say.deleteWhat : say.replaceWhat}</p>
    </Ask>
  )
}

type RenamingProps = {
  name: string
  view: string
  act: (work: Promise<unknown>) => void
  /** Why it cannot get the name; null if it has it now. */
  rename: (to: string) => Promise<string | null>
  onCancel: () => void
}

function Renaming({ name, view, act, rename, onCancel }: RenamingProps) {
  const say = { ...useWords(words), ...useWords(viewWords) }
  const [fault, setFault] = useState<string | null>(null)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const to = String(new FormData(event.currentTarget).get('to')).trim()
    act(rename(to).then(setFault))
  }
  return (
    <li>
      <form className={styles.viewForm} onSubmit={submit}>
        <TextField
          {...{ label: say.newName(name), fault }}
          name="to"
          defaultValue={view}
          maxLength={128}
          required
          autoFocus
        />
        <Button type="submit">{say.rename}</Button>
        <Button kind="quiet" onClick={onCancel}>
          {say.cancel}
        </Button>
      </form>
    </li>
  )
}
