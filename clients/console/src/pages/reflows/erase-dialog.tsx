import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { visible } from '../../words/visible.ts'
import { useLanguage, useWords } from '../../words/words.ts'
import { type Erased, path, placeOf } from './paths.ts'
import { words } from './words.ts'

type Props = { deployment_id: string; onClose: () => void }

/** Erases a person's captured requests, then shows the versions and models made of earlier ones. */
export function EraseDialog({ deployment_id, onClose }: Props) {
  const say = useWords(words)
  const [erased, setErased] = useState<Erased | null>(null)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const body = { deployment_id, user: String(given.get('user')) }
    setErased(await request<Erased>('POST', `${path}/erase`, { body }))
  })
  return (
    <Dialog title={say.erase} onClose={onClose}>
      {erased ? (
        <div className={layout.form}>
          <Consequences of={erased} />
          <Button onClick={onClose}>{say.close}</Button>
        </div>
      ) : (
        <form className={layout.form} onSubmit={onSubmit}>
          <TextField
            label={say.user}
            hint={say.userHint}
            name="user"
            maxLength={1024}
            autoComplete="off"
            required
            autoFocus
          />
          <FormEnd error={error} isBusy={isBusy} text={say.erase} onCancel={onClose} />
        </form>
      )}
    </Dialog>
  )
}

function Consequences({ of: { deleted, versions, runs, models } }: { of: Erased }) {
  const say = useWords(words)
  const language = useLanguage()
  return (
    <>
      <p role="status">{say.erasedCount(deleted.toLocaleString(language))}</p>
      {versions.length === 0 ? (
        <p>{say.unaffected}</p>
      ) : (
        <>
          <h3>{say.affected}</h3>
          <ul>
            {versions.map(ref => (
              <li key={ref}>
                <Link {...placeOf(ref)}>{ref}</Link>
              </li>
            ))}
            {[...runs, ...models].map(ref => (
              <li key={ref}>{visible(ref)}</li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
