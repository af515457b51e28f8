import { Popover } from 'radix-ui'
import { type FormEvent, useSyncExternalStore } from 'react'
import { Button } from '../../design/button.tsx'
import { TextField } from '../../design/field.tsx'
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
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button>{say.views}</Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={styles.popover} align="end" sideOffset={4} collisionPadding={8}>
          {views.length === 0 && <p>{say.noViews}</p>}
          {views.map(({ name, ...view }) => (
            <span key={name} className={styles.choice}>
              <Popover.Close asChild>
                <Button kind="quiet" onClick={() => onChoose(view)}>
                  {name}
                </Button>
              </Popover.Close>
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
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
