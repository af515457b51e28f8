import { useNavigate } from '@tanstack/react-router'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { list } from './paths.ts'
import { words } from './words.ts'

export function Create({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const name = String(given.get('name')).trim()
    const body = { name, description: String(given.get('description')).trim() }
    await request('POST', list, { body })
    await reread(list)
    onClose()
    await navigate({ to: '/teams/$name', params: { name } })
  })
  return (
    <Dialog title={say.create} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextField
          label={say.name}
          hint={say.nameHint}
          name="name"
          required
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
        />
        <TextField label={say.description} name="description" maxLength={2000} />
        <FormEnd error={error} isBusy={isBusy} text={say.create} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
