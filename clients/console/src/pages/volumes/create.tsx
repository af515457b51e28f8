import { Dialog } from '../../design/dialog.tsx'
import { Checkbox, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { list } from './paths.ts'
import { words } from './words.ts'

const dayS = 86_400

export function Create({ onClose }: { onClose: () => void }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const days = String(given.get('days')).trim()
    const body = {
      name: String(given.get('name')).trim(),
      size_gb: Number(given.get('size')),
      read_only: given.get('read_only') !== null,
      auto_cleanup_s: days === '' ? null : Number(days) * dayS,
    }
    await request('POST', list, { body })
    await reread(list)
    onClose()
  })
  return (
    <Dialog title={say.create} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        <TextField
          label={say.name}
          hint={say.nameHint}
          name="name"
          required
          maxLength={128}
          autoComplete="off"
          spellCheck={false}
        />
        <TextField
          label={say.size}
          hint={say.sizeHint}
          name="size"
          type="number"
          required
          min={1}
          step={1}
          defaultValue={10}
        />
        <TextField
          label={say.cleanup}
          hint={say.cleanupHint}
          name="days"
          type="number"
          min={1}
          max={365}
          step={1}
        />
        <Checkbox label={say.readOnly} name="read_only" />
        <FormEnd error={error} isBusy={isBusy} text={say.create} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
