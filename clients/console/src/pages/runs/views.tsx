import { type FormEvent, useSyncExternalStore } from 'react'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
import { Popover } from '../../design/popover.tsx'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { keepViews, savedViews, type View, withView } from './saved-views.ts'
import { words } from './words.ts'

/** Named views, kept in this browser; the address of each can be sent to others. */
export function SavedViews({ search, onChoose }: { search: View; onChoose: (view: View) => void }) {
  const say = useWords(words)
  const views = useSyncExternalStore(savedViews.subscribe, savedViews.get)
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    if (name !== '') keepViews(withView(views, { name, ...search }))
    event.currentTarget.reset()
  }
  return (
    <Popover label={say.views} className={styles.popover}>
      {close => (
        <>
          {views.length === 0 && <p>{say.noViews}</p>}
          {views.map(({ name, ...view }) => (
            <span key={name} className={styles.choice}>
              <Button
                kind="quiet"
                onClick={() => {
                  close()
                  onChoose(view)
                }}
              >
                {name}
              </Button>
              <Button
                kind="quiet"
                aria-label={say.remove(name)}
                onClick={() => keepViews(views.filter(one => one.name !== name))}
              >
                ×
              </Button>
            </span>
          ))}
          <form onSubmit={save} className={styles.search}>
            <TextField label={say.viewName} name="name" maxLength={80} required />
            <Button type="submit">{say.saveView}</Button>
          </form>
        </>
      )}
    </Popover>
  )
}
