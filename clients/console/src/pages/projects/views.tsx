import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Checkbox, TextField } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { session } from '../../session/session.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import {
  changeView,
  readingViews,
  removeView,
  saveView,
  useOpenView,
  type ViewRow,
} from './use-views.ts'
import { stateOf } from './view-state.ts'
import { words } from './words.ts'

type Props = { project: string; mayConfigure: boolean }

/** The saved views of a project: opens, saves, renames, shares and deletes them. */
export function Views({ project, mayConfigure }: Props) {
  const say = useWords(words)
  const { view } = useSearch({ strict: false })
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        {view === undefined ? say.views : say.viewNamed(nameOf(view, say))}
      </Button>
      {isOpen && (
        <Dialog title={say.viewsOf(project)} onClose={() => setOpen(false)}>
          <List project={project} mayConfigure={mayConfigure} onClose={() => setOpen(false)} />
        </Dialog>
      )}
    </>
  )
}

const nameOf = (view: string, say: { defaultView: string }) =>
  view === 'default' ? say.defaultView : visible(view)

function List({ project, mayConfigure, onClose }: Props & { onClose: () => void }) {
  const say = useWords(words)
  const views = useQuery(readingViews(project))
  const open = useOpenView(project)
  const search = useSearch({ strict: false })
  const [error, setError] = useState<unknown>(null)
  const act = (work: Promise<unknown>) => {
    setError(null)
    work.catch(setError)
  }
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const given = new FormData(form)
    const body = { state: stateOf(search), shared: given.has('shared') }
    act(saveView(project, String(given.get('view')).trim(), body).then(() => form.reset()))
  }
  const hasDefault = views.data?.some(({ owner }) => owner === null) === true
  return (
    <>
      <Shown of={views}>
        {rows =>
          rows.length === 0 ? (
            <p className={styles.soft}>{say.noViews}</p>
          ) : (
            <ul className={styles.views} aria-label={say.views}>
              {rows.map(row => (
                <Row
                  key={`${row.owner} ${row.view}`}
                  {...{ row, project, mayConfigure, act }}
                  onOpen={() => act(open(row).then(onClose))}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <form className={styles.viewForm} onSubmit={save}>
        <TextField label={say.viewName} name="view" maxLength={128} required autoComplete="off" />
        <Checkbox label={say.forAll} name="shared" />
        <Button type="submit" kind="main">
          {say.saveView}
        </Button>
      </form>
      <Failure error={error} />
      <div className={styles.viewEnd}>
        {mayConfigure && (
          <Button
            onClick={() =>
              act(saveView(project, 'default', { state: stateOf(search), shared: true }))
            }
          >
            {hasDefault ? say.replaceDefault : say.setDefault}
          </Button>
        )}
        <Button onClick={onClose}>{say.close}</Button>
      </div>
    </>
  )
}

type RowProps = Props & {
  row: ViewRow
  act: (work: Promise<unknown>) => void
  onOpen: () => void
}

function Row({ row, project, mayConfigure, act, onOpen }: RowProps) {
  const say = useWords(words)
  const [isNaming, setNaming] = useState(false)
  const { view, owner, shared } = row
  const name = nameOf(view, say)
  const current = session.get()
  const isMine = current.state === 'signed-in' && owner === current.username
  const rename = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const to = String(new FormData(event.currentTarget).get('to')).trim()
    setNaming(false)
    if (to !== view) act(changeView(project, row, { view: to, shared }))
  }
  if (isNaming)
    return <Renaming {...{ name, view }} onSubmit={rename} onCancel={() => setNaming(false)} />
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
      {isMine &&
        button(shared ? say.unshare : say.share, () =>
          act(changeView(project, row, { view, shared: !shared })),
        )}
      {(isMine || (owner === null && mayConfigure)) &&
        button(say.deleteView, () => act(removeView(project, view)))}
    </li>
  )
}

type Readers = { ofProject: string; shared: string; mine: string }

const readersOf = ({ owner, shared }: ViewRow, isMine: boolean, say: Readers): string => {
  if (owner === null) return say.ofProject
  return isMine ? say[shared ? 'shared' : 'mine'] : owner
}

type RenamingProps = {
  name: string
  view: string
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  onCancel: () => void
}

function Renaming({ name, view, onSubmit, onCancel }: RenamingProps) {
  const say = useWords(words)
  return (
    <li>
      <form className={styles.viewForm} onSubmit={onSubmit}>
        <TextField
          label={say.newName(name)}
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
