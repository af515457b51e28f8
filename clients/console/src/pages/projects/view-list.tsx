import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { defaultView } from '../../../../../schemas/default-view.ts'
import { Button } from '../../design/button.tsx'
import { Checkbox, TextField } from '../../design/field.tsx'
import { Failure, Shown } from '../../design/notice.tsx'
import { session } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { readingViews, saveView, useOpenView } from './use-views.ts'
import { Row } from './view-row.tsx'
import { faultOfName, stateOf } from './view-state.ts'
import { viewWords } from './view-words.ts'
import { words } from './words.ts'

type Props = { project: string; mayConfigure: boolean; onClose: () => void }

/** The saved views of a project, and a form to save another one. */
export function ViewList({ project, mayConfigure, onClose }: Props) {
  const say = { ...useWords(words), ...useWords(viewWords) }
  const views = useQuery(readingViews(project))
  const open = useOpenView(project)
  const search = useSearch({ strict: false })
  const [error, setError] = useState<unknown>(null)
  const [fault, setFault] = useState<string | null>(null)
  const current = session.get()
  const username = current.state === 'signed-in' ? current.username : ''
  // Another tab may have saved some since they were listed.
  const check = async (view: string): Promise<string | null> => {
    const { data = [] } = await views.refetch({ throwOnError: true })
    const found = faultOfName(view, data, username)
    return found && say[found]
  }
  const act = (work: Promise<unknown>) => {
    setError(null)
    work.catch(setError)
  }
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const given = new FormData(form)
    const view = String(given.get('view')).trim()
    const body = { state: stateOf(search), shared: given.has('shared') }
    act(
      check(view).then(async found => {
        setFault(found)
        if (found !== null) return
        await saveView(project, view, body)
        form.reset()
      }),
    )
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
                  {...{ row, project, mayConfigure, username, act, check }}
                  onOpen={() => act(open(row).then(onClose))}
                />
              ))}
            </ul>
          )
        }
      </Shown>
      <form className={styles.viewForm} onSubmit={save}>
        <TextField
          {...{ label: say.viewName, fault }}
          name="view"
          maxLength={128}
          required
          autoComplete="off"
        />
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
              act(saveView(project, defaultView, { state: stateOf(search), shared: true }))
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
